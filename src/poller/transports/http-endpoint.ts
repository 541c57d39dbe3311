import * as v from 'valibot'
import { type TlsSettings, tlsSchema } from '../../client-tls.js'
import { oneOf, text } from '../../options.js'
import { addressOf } from './address.js'
import { bearer, tokenSchema } from './bearer.js'

/** What one node that is asked over HTTP has of its own. */
export interface HttpNodeOptions {
  /** Where its report is, whole: `https://10.0.0.1:9000/report`. Default: made from its id. */
  url?: string | undefined
  /** Its bearer token; default the transport's. */
  token?: string | undefined
  /** Its TLS options, instead of the transport's. Default: the transport's. */
  tls?: TlsSettings | undefined
}

/** Options of all transports over HTTP. */
export interface HttpOptions {
  /** `http` (default) or `https`. */
  protocol?: 'http' | 'https' | undefined
  /** Sent as `Authorization: Bearer`; visible ASCII. Default none. */
  token?: string | undefined
  /** How nodes prove who they are, and how this process does. Default: by the well-known certificates. */
  tls?: TlsSettings | undefined
}

/** Where one node is asked over HTTP, and how it knows who asks: plain data, for any thread. */
export interface HttpEndpoint {
  /** Scheme, host and port. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** The Authorization header. */
  readonly authorization: string | undefined
  readonly tls: TlsSettings | undefined
}

/** What the nodes of one transport have in common. */
export interface EndpointSettings {
  readonly protocol: 'http' | 'https'
  /** Default: the port in the node's id, else the protocol's. */
  readonly port?: number | undefined
  readonly path: string
  readonly token?: string | undefined
  readonly tls?: TlsSettings | undefined
}

/** `HttpOptions`. */
export const httpEntries = {
  protocol: v.optional(oneOf(['http', 'https']), 'http'),
  token: v.optional(tokenSchema),
  tls: v.optional(tlsSchema),
} as const

/** What a transport's `node` option may give. */
export const endpointEntries = {
  url: v.optional(text('a URL')),
  token: v.optional(tokenSchema),
  tls: v.optional(tlsSchema),
} as const

/** The path of a URL, with its query. */
export const pathSchema = v.pipe(text(), v.regex(/^\/[\x21-\x7e]*$/, 'a path that starts with /'))

/** Works out where a node is asked. Throws an Error that says why it can't be. */
export function endpointOf(id: string, settings: EndpointSettings, own: HttpNodeOptions): HttpEndpoint {
  const url = own.url === undefined ? urlOf(id, settings) : ownUrl(own.url)
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    authorization: bearer(own.token ?? settings.token),
    tls: own.tls ?? settings.tls,
  }
}

function urlOf(id: string, { protocol, port: all, path }: EndpointSettings): URL {
  const { protocol: own, host, port } = addressOf(id)
  // An agent on a port of its own does not speak what the service speaks.
  const scheme = all === undefined ? (own ?? protocol) : protocol
  return new URL(`${scheme}://${host}:${all ?? port ?? ''}${path}`)
}

function ownUrl(url: string): URL {
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new Error(`${parsed.protocol} is not HTTP`)
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error('a URL with a password: use the token option')
  return parsed
}
