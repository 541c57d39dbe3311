import * as v from 'valibot'
import { checkOptions, method, oneOf, options, text, whole } from '../../options.js'
import { addressOf } from './address.js'
import { bearer, type TlsSettings, tlsSchema, tokenSchema } from './credentials.js'

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

/** Options of `httpTransport` with their defaults. */
export type HttpSettings = Readonly<HttpTransportOptions> & {
  readonly protocol: 'http' | 'https'
  readonly path: string
}

/**
 * Asks each node over HTTP. Runs in the polling thread: not redirected, one kept connection a node, bodies up to
 * 64 KiB of ORCA's JSON. Made by `httpTransport`.
 */
export interface HttpTransport {
  readonly kind: 'http'
  readonly settings: HttpSettings
}

/** Where and how one node is asked: plain data, for any thread. */
export interface HttpTarget {
  readonly kind: 'http'
  readonly id: string
  /** Scheme, host and port. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** The Authorization header. */
  readonly authorization: string | undefined
  readonly tls: TlsSettings | undefined
}

const nodeSchema = options({
  url: v.optional(text('a URL')),
  token: v.optional(tokenSchema),
  tls: v.optional(tlsSchema),
})

const httpSchema = options({
  protocol: v.optional(oneOf(['http', 'https']), 'http'),
  port: v.optional(whole(1, 65_535)),
  path: v.optional(v.pipe(text(), v.regex(/^\/[\x21-\x7e]*$/, 'a path that starts with /')), '/report'),
  token: v.optional(tokenSchema),
  tls: v.optional(tlsSchema),
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

/** Works out where and how a node is asked. Throws an Error that says why it can't be. */
export function resolveHttp(id: string, settings: HttpSettings): HttpTarget {
  const own = checkOptions(`httpTransport.node(${JSON.stringify(id)})`, settings.node?.(id) ?? {}, nodeSchema)
  const url = own.url === undefined ? urlOf(id, settings) : ownUrl(own.url)
  return {
    kind: 'http',
    id,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    authorization: bearer(own.token ?? settings.token),
    tls: own.tls ?? settings.tls,
  }
}

function urlOf(id: string, { protocol, port: all, path }: HttpSettings): URL {
  const { host, port } = addressOf(id)
  return new URL(`${protocol}://${host}:${all ?? port ?? ''}${path}`)
}

function ownUrl(url: string): URL {
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new Error(`${parsed.protocol} is not HTTP`)
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error('a URL with a password: use the token option')
  return parsed
}
