import { type Estimate, estimateOf, median, quantile } from '../statistics.js'
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
  /** Requests a second, with all servers alike and at once. Median over processes. */
  readonly throughput: number
  /** CPU time of a request in the process that sends it, µs. Median over processes. */
  readonly cpu: number
  /** Throughput to that of BalancedPool, and of RoundRobinPool: means over processes. */
  readonly toBalancedPool: Estimate
  readonly toRoundRobinPool: Estimate
  /** Response times, ms, where one server has half its speed. */
  readonly p50: number
  readonly p99: number
}

/** What one process found of a sender. */
export interface SenderFindings {
  readonly sender: Sender
  /** Medians over rounds; throughput is compared within a round. */
  readonly throughput: number
  readonly cpu: number
  readonly toBalancedPool: number
  readonly toRoundRobinPool: number
  /** Response times with a busy server, ms. */
  readonly times: readonly number[]
}

export interface UndiciSettings {
  /** Processes, each with servers of its own: two senders that are the same differ by some per cent in any one. */
  readonly processes: number
  /** Rounds in which all senders take turns. */
  readonly rounds: number
  /** Requests of each sender in a round. */
  readonly requests: number
  /** Rounds with a busy server, in the first process alone, and requests of each sender in one. */
  readonly busyRounds: number
  readonly busyRequests: number
}

/** Measures all senders over the same servers, in processes of their own. */
export async function measureUndici(settings: UndiciSettings): Promise<SenderResult[]> {
  const findings: SenderFindings[] = []
  for (let i = 0; i < settings.processes; i++) {
    const given = i === 0 ? settings : { ...settings, busyRounds: 0 }
    const child = startChild(new URL('./undici-child.ts', import.meta.url), [JSON.stringify(given)])
    findings.push(...((await firstMessage(child)) as SenderFindings[]))
  }
  return SENDERS.map((sender) =>
    resultOf(
      sender,
      findings.filter((one) => one.sender === sender),
    ),
  )
}

/** What several processes found of a sender. */
function resultOf(sender: Sender, findings: readonly SenderFindings[]): SenderResult {
  const times = findings.flatMap((one) => one.times)
  return {
    sender,
    throughput: median(findings.map((one) => one.throughput)),
    cpu: median(findings.map((one) => one.cpu)),
    toBalancedPool: estimateOf(findings.map((one) => one.toBalancedPool)),
    toRoundRobinPool: estimateOf(findings.map((one) => one.toRoundRobinPool)),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}
