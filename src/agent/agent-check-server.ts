import { createServer, type Socket } from 'node:net'
import { MOST_WEIGHT, type Report } from '../report.js'
import { writeAgentCheck } from '../reports/agent-check.js'
import { type Address, listen } from '../web/listening.js'
import type { AgentServer } from './agent-server.js'
import type { CheckedAgentCheckOptions } from './options.js'
import type { Reporter } from './reporter.js'

/** What the agent-check port did, since the start. */
export interface AgentCheckCounters {
  /** Connections that got a reply, as far as the system took it. */
  readonly answered: number
  /** Of these, with a reply that has no percentage, since there was no sample yet: the weight stays as it is. */
  readonly notReady: number
  /** Connections that were cut off, since the client did not end its side in time or sent too much. */
  readonly cut: number
  /** Connections that were closed at once: one too many, of all or of those from one address. */
  readonly dropped: number
  /** Connections that the system could not hand over, such as for want of file descriptors. */
  readonly acceptErrors: number
}

/** Answers HAProxy's agent checks. */
export interface AgentCheckServer extends AgentServer {
  readonly address: Address
  readonly counters: AgentCheckCounters
}

/** How long a client may take to end its side once it has its reply, ms. */
const LINGER = 1_000

/** The most that a client may send, bytes: `agent-send` is a short string. */
const MAX_SENT = 4_096

/**
 * What HAProxy is to give a node of its configured weight, percent: what is left of `cpu`, which is the agent's
 * utilization, times the node's own weight. At least 1, so that rounding drains nobody, but for a weight of 0.
 * @returns a whole number from 0 to 25,600; undefined: no load is known
 */
export function weightPercent({ cpu, weight = 100 }: Report): number | undefined {
  if (weight === 0) return 0
  if (cpu === undefined) return undefined
  return Math.min(MOST_WEIGHT, Math.max(1, Math.round(((100 - cpu) * weight) / 100)))
}

/** The reply to an agent check, from the report as it is now: the whole state, each time. */
export function agentCheckReply(report: Report): string {
  const { state = 'up', maxInFlight } = report
  const percent = weightPercent(report)
  // No share of the work at all is what HAProxy calls drained.
  return writeAgentCheck({ state: state === 'up' && percent === 0 ? 'drain' : state, percent, maxInFlight })
}

/**
 * Starts a port that HAProxy's `agent-check` asks: each connection gets one line, such as `ready up 73%`, at once from
 * memory, and is closed. What the client sends is not looked at. The protocol knows neither tokens nor TLS.
 * @throws ListenError (rejects)
 */
export async function startAgentCheckServer(
  options: CheckedAgentCheckOptions & { readonly unref: boolean },
  reporter: Reporter,
): Promise<AgentCheckServer> {
  const counters = { answered: 0, notReady: 0, cut: 0, dropped: 0, acceptErrors: 0 }

  function reply(socket: Socket): void {
    let sent = 0
    const cut = (): void => {
      counters.cut++
      socket.destroy()
    }
    const timer = setTimeout(cut, LINGER).unref()
    socket.once('close', () => clearTimeout(timer))
    // The client went away: nothing to say, and nothing it did wrong.
    socket.on('error', () => socket.destroy())
    // What is not read when a connection closes resets it, and the reply may be lost with it.
    socket.on('data', (chunk) => {
      sent += chunk.length
      if (sent > MAX_SENT) cut()
    })
    const report = reporter.report()
    if (report === undefined) counters.notReady++
    counters.answered++
    socket.end(agentCheckReply(report ?? reporter.told()))
  }

  const server = createServer()
  const listening = listen(server, options, counters)
  // Behind the listener that drops connections.
  server.on('connection', (socket) => {
    if (!socket.destroyed) reply(socket)
  })
  const { close, ...address } = await listening
  return { address, counters, close }
}
