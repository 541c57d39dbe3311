import { firstMessage, startChild } from './child.js'

/** What sends the requests. */
export const SENDERS = [
  'BalancedDispatcher, adaptive()',
  'BalancedDispatcher, roundRobin()',
  'BalancedPool',
  'RoundRobinPool, one a server in turn',
  'Agent, servers in turn',
] as const

export type Sender = (typeof SENDERS)[number]

export interface SenderResult {
  readonly sender: Sender
  /** Requests a second, with all servers alike and at once. Median over rounds. */
  readonly throughput: number
  /** CPU time of a request in the process that sends it, µs. Median over rounds. */
  readonly cpu: number
  /** Throughput to that of BalancedPool, and of RoundRobinPool, in the same round. Medians over rounds. */
  readonly toBalancedPool: number
  readonly toRoundRobinPool: number
  /** Response times, ms, where one server has half its speed. */
  readonly p50: number
  readonly p99: number
}

export interface UndiciSettings {
  /** Rounds in which all senders take turns. */
  readonly rounds: number
  /** Requests of each sender in a round. */
  readonly requests: number
  /** Rounds with a busy server, and requests of each sender in one. */
  readonly busyRounds: number
  readonly busyRequests: number
}

/** Measures all senders over the same servers, in a process of its own. */
export async function measureUndici(settings: UndiciSettings): Promise<SenderResult[]> {
  const child = startChild(new URL('./undici-child.ts', import.meta.url), [JSON.stringify(settings)])
  return (await firstMessage(child)) as SenderResult[]
}
