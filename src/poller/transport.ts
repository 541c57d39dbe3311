import * as v from 'valibot'
import { checkOptions, flag, method, oneOf, options, secret, text, whole } from '../options.js'
import type { Report } from '../report.js'

/** How a node's agent proves who it is, and how this process does. PEM texts or their bytes. */
export interface TlsSettings {
  /** Certificates that are trusted instead of the well-known ones. */
  ca?: string | Uint8Array | (string | Uint8Array)[]
  /** This process's certificate, where agents ask for one. */
  cert?: string | Uint8Array
  /** Its private key. */
  key?: string | Uint8Array
  /** The name that the agent's certificate must bear; default the host of the URL. */
  servername?: string
  /** false takes any certificate: for tests. Default true. */
  rejectUnauthorized?: boolean
}

/** What one node has of its own. */
export interface HttpNodeOptions {
  /** Where its report is, whole: `https://10.0.0.1:9000/report`. Default: made from its id. */
  url?: string
  /** Its bearer token; default the transport's. */
  token?: string
  /** Its TLS options, instead of the transport's. */
  tls?: TlsSettings
}

/** Options of `httpTransport`. */
export interface HttpTransportOptions {
  /** `http` (default) or `https`. */
  protocol?: 'http' | 'https'
  /** The agents' port, 1-65535; default the port in the node's id, else the protocol's. */
  port?: number
  /** Default `/report`. */
  path?: string
  /** Sent as `Authorization: Bearer`; visible ASCII. Default none. */
  token?: string
  tls?: TlsSettings
  /** What a node has of its own; called once per node, when it joins, on the balancer's thread. */
  node?: (id: string) => HttpNodeOptions | undefined
}

/**
 * Asks each node over HTTP. Runs in the polling thread: not redirected, one kept connection a node, bodies up to
 * 64 KiB of ORCA's JSON. Made by `httpTransport`.
 */
export interface HttpTransport {
  readonly kind: 'http'
  readonly settings: Readonly<HttpTransportOptions> & {
    readonly protocol: 'http' | 'https'
    readonly path: string
  }
}

/** Asks in a way of its own, on the thread that made the balancer. */
export interface CustomTransport {
  /**
   * Gets a node's latest report. A rejection counts as `exit`, a report that is no report as `error`.
   * @param signal aborted when the answer is no longer wanted: the cycle ended, the node left or the balancer closed
   */
  poll(node: string, signal: AbortSignal): Promise<Report>
}

/** Where reports come from. */
export type Transport = HttpTransport | CustomTransport

const pem = v.union([text(), v.instance(Uint8Array)], 'PEM text or bytes')
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
const token = secret(isToken, 'visible ASCII characters without spaces, at least one')
const tls = options({
  ca: v.optional(v.union([pem, v.array(pem)], 'PEM text or bytes, or several')),
  cert: v.optional(pem),
  key: v.optional(pem),
  servername: v.optional(text()),
  rejectUnauthorized: v.optional(flag()),
})

/** What `HttpTransportOptions.node` may return. */
export const httpNodeSchema = options({
  url: v.optional(text('a URL')),
  token: v.optional(token),
  tls: v.optional(tls),
})

const httpSchema = options({
  protocol: v.optional(oneOf(['http', 'https']), 'http'),
  port: v.optional(whole(1, 65_535)),
  path: v.optional(v.pipe(text(), v.regex(/^\/[\x21-\x7e]*$/, 'a path that starts with /')), '/report'),
  token: v.optional(token),
  tls: v.optional(tls),
  node: v.optional(method<(id: string) => HttpNodeOptions | undefined>()),
})

/**
 * Makes the transport that asks agents over HTTP: node `10.0.0.1:8080` is asked at `http://10.0.0.1:8080/report`.
 *
 * ```ts
 * httpTransport({ protocol: 'https', port: 9000, token: process.env.AGENT_TOKEN, tls: { ca } })
 * ```
 * @throws OptionError
 */
export function httpTransport(given: HttpTransportOptions = {}): HttpTransport {
  return { kind: 'http', settings: checkOptions('httpTransport', given, httpSchema) }
}

/** Whether the transport runs on the balancer's thread. */
export function isCustom(transport: Transport): transport is CustomTransport {
  return 'poll' in transport
}

/** For the options of whatever takes a transport. */
export const transportSchema = v.custom<Transport>((value) => {
  if (typeof value !== 'object' || value === null) return false
  if ('poll' in value) return typeof value.poll === 'function'
  return 'kind' in value && value.kind === 'http' && 'settings' in value
}, 'httpTransport(), or an object with a method poll(node, signal)')
