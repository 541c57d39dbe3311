export type { Watch, Watchable } from '../metrics/index.js'
export { type CollectOptions, collectBalancer } from './collect.js'
