import { type Estimate, estimateOf, type Spread, spreadOf } from '../statistics.js'
import { firstMessage, startChild } from './child.js'

/** The servers that there is middleware for. */
export const MEASURED_SERVERS = ['node:http', 'Express', 'Fastify', 'Koa', 'gRPC'] as const

export type MeasuredServer = (typeof MEASURED_SERVERS)[number]

/** What a middleware does with a request: nothing, counts it, sends a report that others had too, or one of its own. */
export const KINDS = ['empty', 'counted', 'reported', 'anew'] as const

export type Kind = (typeof KINDS)[number]

/** What middleware adds to a request, µs of CPU time: the mean over processes. */
export type MiddlewareResult = {
  readonly server: MeasuredServer
  /** A request without it, by process. */
  readonly plain: Spread
} & { readonly [K in Kind]?: Estimate }

/** What one process found. */
export interface MiddlewareFindings {
  readonly plain: number
  readonly added: Partial<Record<Kind, number>>
}

export interface MiddlewareSettings {
  /** Processes, each with a server of its own: how code and data happen to lie is another in each. */
  readonly processes: number
  readonly rounds: number
  /** Requests of each kind in a round. */
  readonly requests: number
}

/** Measures each server, one after the other, and that as often as there are processes. */
export async function measureMiddleware(
  { processes, rounds, requests }: MiddlewareSettings,
  servers: readonly MeasuredServer[] = MEASURED_SERVERS,
): Promise<MiddlewareResult[]> {
  const found = new Map<MeasuredServer, MiddlewareFindings[]>(servers.map((server) => [server, []]))
  for (let i = 0; i < processes; i++) {
    for (const [server, findings] of found) {
      const args = [server, `${rounds}`, `${requests}`, `${i}`]
      const child = startChild(new URL('./middleware-child.ts', import.meta.url), args)
      findings.push((await firstMessage(child)) as MiddlewareFindings)
    }
  }
  return [...found].map(([server, findings]) => resultOf(server, findings))
}

/** What several processes found of a server. */
export function resultOf(server: MeasuredServer, findings: readonly MiddlewareFindings[]): MiddlewareResult {
  const added = KINDS.flatMap((kind) => {
    const values = findings.flatMap((one) => one.added[kind] ?? [])
    return values.length === 0 ? [] : [[kind, estimateOf(values)] as const]
  })
  return { server, plain: spreadOf(findings.map(({ plain }) => plain)), ...Object.fromEntries(added) }
}
