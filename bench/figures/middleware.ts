import { firstMessage, startChild } from './child.js'

/** What a kind of middleware adds to a request. */
export interface MiddlewareResult {
  readonly middleware: string
  /** The request as the server makes it without. */
  readonly plain: number
  /** Counted, without a report. */
  readonly counted: number
  /** Counted, with a report that others had too. */
  readonly reported: number
  /** Counted, with a report of its own. */
  readonly anew: number
}

export interface MiddlewareSettings {
  readonly rounds: number
  /** Requests in each round, of each kind. */
  readonly requests: number
}

/** Measures in a process of its own, µs a request; but for `plain` what is added to that. */
export async function measureMiddleware({
  rounds,
  requests,
}: MiddlewareSettings): Promise<MiddlewareResult[]> {
  const child = startChild(new URL('./middleware-child.ts', import.meta.url), [`${rounds}`, `${requests}`])
  return (await firstMessage(child)) as MiddlewareResult[]
}
