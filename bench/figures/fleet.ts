import type { FleetSettings } from '../settings.js'
import { firstMessage, startChild } from './child.js'

/** One cycle over a fleet. */
export interface FleetCycle {
  /** ms */
  readonly duration: number
  /** Reports. */
  readonly stored: number
  /** CPU time of the whole process since the cycle before, ms. */
  readonly processCpu: number
  /** CPU time of the polling thread since the cycle before, ms; undefined where the system does not tell. */
  readonly threadCpu?: number
}

/** What polling a fleet comes to. */
export interface FleetMeasures {
  readonly cycles: readonly FleetCycle[]
  /** Memory of the process before there was a balancer, and in the end, bytes. */
  readonly rssBefore: number
  readonly rss: number
}

export type FleetResult = FleetSettings & FleetMeasures

/** Polls a fleet on loopback that answers, and measures what that costs the process that polls. */
export async function pollFleet(settings: FleetSettings): Promise<FleetResult> {
  const servers = startChild(new URL('./fleet-servers.ts', import.meta.url), [`${settings.nodes}`])
  try {
    const nodes = (await firstMessage(servers)) as string[]
    const { interval, count } = settings
    const poller = startChild(
      new URL('./fleet-child.ts', import.meta.url),
      [`${interval}`, `${count}`],
      ['--no-warnings'],
    )
    poller.send(nodes)
    return { ...settings, ...((await firstMessage(poller)) as FleetMeasures) }
  } finally {
    servers.kill()
  }
}
