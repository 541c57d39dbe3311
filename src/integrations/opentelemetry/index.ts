export type { Watch, Watchable } from '../metrics/index.js'
export { type InstrumentOptions, instrumentBalancer } from './instrument.js'
