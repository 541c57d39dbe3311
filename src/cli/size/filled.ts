import { estimateFleet, tryFleet } from '../../estimate/estimate.js'
import type { FleetInputs } from '../../estimate/inputs.js'
import type { MeasuredFleet } from '../../estimate/measured.js'
import type { Source, Sources } from './print.js'

/** Inputs, and where each comes from. */
export interface Filled {
  readonly inputs: Partial<FleetInputs>
  readonly sources: Sources
  /** What was measured and can't be used, in words. */
  readonly unused: readonly string[]
}

/**
 * Fills in what was measured where nothing was given.
 * @throws OptionError for what was given
 */
export function filledIn(given: Partial<FleetInputs>, measured: MeasuredFleet | undefined): Filled {
  const inputs: Partial<FleetInputs> = { ...given }
  const sources: { [K in keyof FleetInputs]?: Source } = {}
  const unused: string[] = []
  const names = Object.keys(estimateFleet(given).inputs) as (keyof FleetInputs)[]
  for (const name of names) sources[name] = given[name] === undefined ? 'default' : 'flag'
  const fill = (name: keyof FleetInputs, value: number | undefined): void => {
    if (value === undefined || given[name] !== undefined) return
    const result = tryFleet({ ...inputs, [name]: value })
    if ('faults' in result) {
      unused.push(
        ...Object.values(result.faults).map((expected) => `${name} of ${value}: expected ${expected}`),
      )
      return
    }
    inputs[name] = value
    sources[name] = 'measured'
  }
  if (measured === undefined) return { inputs, sources, unused }
  fill('serverCapacity', measured.capacity?.value)
  fill('reportInterval', measured.reportInterval?.value)
  // No server is no fleet to tell the load of.
  fill('servers', measured.servers > 0 ? measured.servers : undefined)
  const { peak } = estimateFleet(inputs)
  if (peak > 0) fill('trafficFactor', measured.traffic && measured.traffic.value / peak)
  else if (measured.traffic !== undefined)
    unused.push('traffic: the planned peak is 0, and it is told as a multiple')
  return { inputs, sources, unused }
}
