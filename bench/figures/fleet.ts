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

/** How a fleet is heard: polled over HTTP, or by streams of gRPC. */
export type FleetBy = 'http' | 'grpc'

export interface FleetResult extends FleetSettings, FleetMeasures {
  readonly by: FleetBy
}

/** The nodes of a fleet. */
export interface Fleet {
  readonly nodes: readonly string[]
  /** Where all of them are, unless that is in their ids. */
  readonly url?: string
}

/** Polls a fleet on loopback that answers, and measures what that costs the process that polls. */
export async function pollFleet(settings: FleetSettings, by: FleetBy = 'http'): Promise<FleetResult> {
  const file = by === 'http' ? './fleet-servers.ts' : './fleet-agent.ts'
  const servers = startChild(new URL(file, import.meta.url), [`${settings.nodes}`])
  try {
    const fleet = (await firstMessage(servers)) as Fleet
    const { interval, count } = settings
    const poller = startChild(
      new URL('./fleet-child.ts', import.meta.url),
      [`${interval}`, `${count}`, by],
      ['--no-warnings'],
    )
    poller.send(fleet)
    return { ...settings, by, ...((await firstMessage(poller)) as FleetMeasures) }
  } finally {
    servers.kill()
  }
}
