import { HIDDEN, OptionError } from '../errors.js'
import { secret } from '../options.js'
import type { Report } from '../report.js'
import type { AgentCheckTransport } from './transports/agent-check.js'
import type { HttpTransport } from './transports/http.js'
import { isBuiltIn } from './transports/kinds.js'
import type { NatsTransport } from './transports/nats.js'
import type { NodeExporterTransport } from './transports/node-exporter.js'
import type { OrcaTransport } from './transports/orca.js'

/** Asks in a way of its own, on the thread that made the balancer. */
export interface CustomTransport {
  /**
   * Gets a node's latest report. A rejection counts as `exit`, a report that is no report as `error`.
   * @param signal aborted when the answer is no longer wanted: the cycle ended, the node left or the balancer closed
   */
  poll(node: string, signal: AbortSignal): Promise<Report>
}

/** Where reports come from. */
export type Transport =
  | HttpTransport
  | OrcaTransport
  | NatsTransport
  | AgentCheckTransport
  | NodeExporterTransport
  | CustomTransport

/**
 * One transport for all nodes, or what gives each node its own: called once per node, when it joins, on the balancer's
 * thread. Where it throws, or gives no transport, that node alone can't be asked.
 */
export type TransportOption = Transport | ((id: string) => Transport)

/**
 * Makes a transport of a function.
 *
 * @example
 * ```ts
 * const transport = functionTransport(async (node, signal) => {
 *   const response = await fetch(`http://${node}/load`, { signal })
 *   const { busy } = (await response.json()) as { busy: number }
 *   return { cpu: busy }
 * })
 * ```
 * @param poll gets a node's latest report, as {@link CustomTransport.poll} does
 * @throws OptionError
 */
export function functionTransport(poll: CustomTransport['poll']): CustomTransport {
  if (typeof poll !== 'function') {
    throw new OptionError('functionTransport', HIDDEN, 'a function (node, signal) => Promise<Report>')
  }
  return { poll }
}

/** Whether the transport is the user's own, and runs on the balancer's thread. */
export function isCustom(transport: Transport): transport is CustomTransport {
  return 'poll' in transport
}

/** What a transport is, for messages. */
export const A_TRANSPORT =
  'a transport, such as httpTransport(), or an object with a method poll(node, signal)'

/** Whether a value is a transport. */
export function isTransport(value: unknown): value is Transport {
  if (typeof value !== 'object' || value === null) return false
  return 'poll' in value ? typeof value.poll === 'function' : isBuiltIn(value)
}

/** For the options of whatever takes a transport. Errors do not show what is none: it may be a token. */
export const transportSchema = secret(
  (value): value is TransportOption => typeof value === 'function' || isTransport(value),
  `${A_TRANSPORT}, or a function (id) => transport`,
)
