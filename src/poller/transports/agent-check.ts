import * as v from 'valibot'
import { type TlsSettings, tlsSchema } from '../../client-tls.js'
import { bareHost } from '../../host.js'
import { checkOptions, method, number, oneOf, options, text, whole } from '../../options.js'
import { addressOf } from './address.js'
import { ownOptions } from './own-options.js'
import { sealed } from './sealed.js'

/** What one node has of its own. */
export interface AgentCheckNodeOptions {
  /** Where its agent is; default the host of the node's id. */
  host?: string | undefined
  /** Default the transport's. */
  port?: number | undefined
  /** Default the transport's. */
  send?: string | undefined
  /** The weight that a `weight:N` is compared with; default the transport's. */
  initialWeight?: number | undefined
  /** Its TLS options, instead of the transport's. Default: the transport's. */
  tls?: TlsSettings | undefined
}

/** Options of `agentCheckTransport`. */
export interface AgentCheckTransportOptions {
  /** The agents' port, 1-65535. */
  port: number
  /** Where the agents are, if not at the nodes: one host for all. Default the host of each node's id. */
  host?: string | undefined
  /**
   * Sent as it is when the connection is made, as HAProxy's `agent-send`: give it a line end where the agent reads
   * lines. Default: nothing.
   */
  send?: string | undefined
  /**
   * What a percentage is:
   * - `'cap'` (default): what HAProxy takes it for, a percentage of the node's share: the report's `weight`. 0 % sends it no
   *   new work.
   * - `'idle'`: idle CPU, which is what many agent scripts write there: the report's `cpu` is 100 minus it, and its weight
   *   stays as it is. 0 % is a busy node then, not one that drains, and above 100 % is wrong.
   */
  weight?: 'cap' | 'idle' | undefined
  /** What an absolute weight (`weight:40`) is a percentage of, more than 0 to 256. Default 100. */
  initialWeight?: number | undefined
  /** Connects by TLS, with these. HAProxy itself does not. Default plain TCP. */
  tls?: TlsSettings | undefined
  /**
   * What a node has of its own; called once per node, when it joins, on the balancer's thread. Default: nothing of its
   * own.
   */
  node?: ((id: string) => AgentCheckNodeOptions | undefined) | undefined
}

/** Options of `agentCheckTransport` with their defaults. */
export type AgentCheckSettings = Readonly<AgentCheckTransportOptions> & {
  readonly weight: 'cap' | 'idle'
  readonly initialWeight: number
}

/**
 * Asks each node's agent of HAProxy's kind, over a TCP connection of its own each time. Runs in the polling thread. Reads
 * up to the first line end, within 1 KiB. Made by `agentCheckTransport`.
 */
export interface AgentCheckTransport {
  /** Which transport it is. */
  readonly kind: 'agent-check'
  /** @internal */
  readonly settings: AgentCheckSettings
}

/** Where and how one node's agent is asked: plain data, for any thread. */
export interface AgentCheckTarget {
  readonly kind: 'agent-check'
  readonly id: string
  readonly host: string
  readonly port: number
  readonly send: string | undefined
  readonly weight: 'cap' | 'idle'
  readonly initialWeight: number
  readonly tls: TlsSettings | undefined
}

const common = {
  host: v.optional(text('a host')),
  send: v.optional(text()),
  tls: v.optional(tlsSchema),
} as const
const port = whole(1, 65_535)
// What an agent may set is at most 256, as in HAProxy.
const initialWeight = number(Number.MIN_VALUE, 256)

const nodeSchema = options({ ...common, port: v.optional(port), initialWeight: v.optional(initialWeight) })

const agentCheckSchema = options({
  ...common,
  port,
  weight: v.optional(oneOf(['cap', 'idle']), 'cap'),
  initialWeight: v.optional(initialWeight, 100),
  node: v.optional(method<(id: string) => AgentCheckNodeOptions | undefined>()),
})

/**
 * Makes the transport that asks agents of HAProxy's agent-check protocol: node `10.0.0.1:8080` is asked at
 * `10.0.0.1:<port>`. `up`, `down`, `ready`, `drain` and `maint` become the node's state, the gravest of what is known of
 * its health and of its operator's will; `maxconn` its `maxInFlight`; for percentages and weights see `weight`. What a reply
 * leaves out stays as it was. A reply of no words changes nothing, and words that mean nothing are counted in
 * `stats().poll.pushed.bad` and warned of, while the others apply. As in HAProxy, a node whose agent does not answer is
 * not down: its readings expire.
 *
 * @example
 * ```ts
 * const transport = agentCheckTransport({ port: 9777, weight: 'idle' })
 * ```
 * @throws OptionError
 */
export function agentCheckTransport(given: AgentCheckTransportOptions): AgentCheckTransport {
  return sealed('agent-check', checkOptions('agentCheckTransport', given, agentCheckSchema))
}

/** Works out where a node's agent is. Throws an Error that says why it can't be asked. */
export function resolveAgentCheck(id: string, settings: AgentCheckSettings): AgentCheckTarget {
  const { weight } = settings
  const own = ownOptions('agentCheckTransport', id, settings, nodeSchema)
  const host = own.host ?? settings.host ?? addressOf(id, 'give its host in the node option').host
  return {
    kind: 'agent-check',
    id,
    host: bareHost(host),
    port: own.port ?? settings.port,
    send: own.send ?? settings.send,
    weight,
    initialWeight: own.initialWeight ?? settings.initialWeight,
    tls: own.tls ?? settings.tls,
  }
}
