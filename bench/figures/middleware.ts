import { firstMessage, startChild } from './child.js'

/** The servers that there is middleware for. */
export const MEASURED_SERVERS = ['node:http', 'Express', 'Fastify', 'Koa', 'gRPC'] as const

export type MeasuredServer = (typeof MEASURED_SERVERS)[number]

/** What middleware adds to a request, µs of CPU time. */
export interface MiddlewareResult {
  readonly server: MeasuredServer
  /** A request without it. */
  readonly plain: number
  /** By one that does nothing, where that costs something: what the server takes for having it. */
  readonly empty: number | undefined
  /** Counted, without a report. */
  readonly counted: number
  /** Counted, with a report that others had too. */
  readonly reported: number
  /** Counted, with a report of its own. */
  readonly anew: number
}

export interface MiddlewareSettings {
  readonly rounds: number
  /** Requests of each kind in a round. */
  readonly requests: number
}

/** Measures each server in a process of its own, one after the other. */
export async function measureMiddleware(settings: MiddlewareSettings): Promise<MiddlewareResult[]> {
  const results: MiddlewareResult[] = []
  for (const server of MEASURED_SERVERS) {
    const args = [server, `${settings.rounds}`, `${settings.requests}`]
    const child = startChild(new URL('./middleware-child.ts', import.meta.url), args)
    results.push((await firstMessage(child)) as MiddlewareResult)
  }
  return results
}
