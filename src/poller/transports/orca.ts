import * as v from 'valibot'
import { type TlsSettings, tlsSchema } from '../../client-tls.js'
import { bareHost } from '../../host.js'
import { checkOptions, method, milliseconds, oneOf, options, whole } from '../../options.js'
import { tokenSchema } from './bearer.js'
import { endpointEntries, endpointOf, type HttpNodeOptions } from './http-endpoint.js'
import { ownOptions } from './own-options.js'
import { sealed } from './sealed.js'

/** Options of `orcaTransport`. */
export interface OrcaTransportOptions {
  /** `http`: gRPC without TLS; `https`: with. Default `https` where `tls` is given, else `http`. */
  protocol?: 'http' | 'https' | undefined
  /** The services' port, 1-65535; default the port in the node's id, else the protocol's. */
  port?: number | undefined
  /** Sent as `authorization: Bearer`; visible ASCII. Default none. */
  token?: string | undefined
  /** How nodes prove who they are, and how this process does. Default: by the well-known certificates. */
  tls?: TlsSettings | undefined
  /** How often a node is asked to tell, ms; at least 100. Servers may tell less often. Default 5,000, as often as polls. */
  reportInterval?: number | undefined
  /**
   * What a node has of its own; called once per node, when it joins, on the balancer's thread. A `url` says where its
   * service is, without a path: `https://10.0.0.1:9001`; so do `host` and `port`. Default: nothing of its own.
   */
  node?: ((id: string) => HttpNodeOptions | undefined) | undefined
}

/** Options of `orcaTransport` with their defaults. */
export type OrcaSettings = Readonly<OrcaTransportOptions> & {
  readonly protocol: 'http' | 'https'
  readonly reportInterval: number
}

/**
 * Hears each node by ORCA's out-of-band service over gRPC. Runs in the polling thread: one connection a node with one
 * stream, kept up by itself, messages of up to 64 KiB. Made by `orcaTransport`.
 */
export interface OrcaTransport {
  /** Which transport it is. */
  readonly kind: 'orca'
  /** @internal */
  readonly settings: OrcaSettings
}

/** Where and how one node is heard: plain data, for any thread. */
export interface OrcaTarget {
  readonly kind: 'orca'
  readonly id: string
  /** A name, or an IP address; one of IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Whether by TLS. */
  readonly secure: boolean
  /** The authorization metadata. */
  readonly authorization: string | undefined
  readonly tls: TlsSettings | undefined
  /** How often it is asked to tell, ms. */
  readonly interval: number
}

const nodeSchema = options(endpointEntries)

const orcaSchema = options({
  protocol: v.optional(oneOf(['http', 'https'])),
  port: v.optional(whole(1, 65_535)),
  token: v.optional(tokenSchema),
  tls: v.optional(tlsSchema),
  reportInterval: v.optional(milliseconds(100), 5_000),
  node: v.optional(method<(id: string) => HttpNodeOptions | undefined>()),
})

/**
 * Makes the transport that hears nodes by gRPC: a stream of `xds.service.orca.v3.OpenRcaService` each, by which a node
 * tells its report each `reportInterval` unasked. So do agents with `createAgent({ grpc })`, and servers of gRPC in any
 * language that have the service.
 *
 * A stream that ends is asked for again: at once where it has told anything, and then after 1 s, 1.6 times as long each
 * time up to 120 s, a fifth more or less. A node without the service is not asked again on that connection. One that sends
 * more messages, bytes or frames of HTTP/2 than its reports need loses its connection, and is asked again after such waits.
 *
 * @example
 * ```ts
 * const transport = orcaTransport({ port: 9001, token: process.env.IDLEST_TOKEN })
 * const balancer = createBalancer({ nodes, poll: { transport } })
 * ```
 * @throws OptionError
 */
export function orcaTransport(given: OrcaTransportOptions = {}): OrcaTransport {
  const checked = checkOptions('orcaTransport', given, orcaSchema)
  const protocol = checked.protocol ?? (checked.tls === undefined ? 'http' : 'https')
  return sealed('orca', { ...checked, protocol })
}

/** Works out where and how a node is heard. Throws an Error that says why it can't be. */
export function resolveOrca(id: string, settings: OrcaSettings): OrcaTarget {
  const own = ownOptions('orcaTransport', id, settings, nodeSchema)
  const { origin, path, authorization, tls } = endpointOf(id, { ...settings, path: '/' }, own)
  if (path !== '/') throw new Error('a URL with a path: gRPC has its own')
  const { protocol, hostname, port } = new URL(origin)
  const secure = protocol === 'https:'
  return {
    kind: 'orca',
    id,
    host: bareHost(hostname),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    secure,
    authorization,
    tls,
    interval: settings.reportInterval,
  }
}
