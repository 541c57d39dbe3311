import * as v from 'valibot'
import { type TlsSettings, tlsSchema } from '../../client-tls.js'
import { bareHost } from '../../host.js'
import { oneOf, text, whole } from '../../options.js'
import { type Address, addressOf, hostSchema, isAddress } from './address.js'
import { bearer, tokenSchema } from './bearer.js'

/** What one node that is asked over HTTP has of its own. */
export interface HttpNodeOptions {
  /** Where its report is, whole: `https://10.0.0.1:9000/report`. Default: made from its id. Not with `host` or `port`. */
  url?: string | undefined
  /** The host that answers for it: a name or an IP address. Default: the host in its id. */
  host?: string | undefined
  /** The port there, 1-65535. Default: the transport's, else the port in the node's id. */
  port?: number | undefined
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
  host: v.optional(hostSchema),
  port: v.optional(whole(1, 65_535)),
  token: v.optional(tokenSchema),
  tls: v.optional(tlsSchema),
} as const

/** The path of a URL, with its query. */
export const pathSchema = v.pipe(text(), v.regex(/^\/[\x21-\x7e]*$/, 'a path that starts with /'))

/** Works out where a node is asked. Throws an Error that says why it can't be. */
export function endpointOf(id: string, settings: EndpointSettings, own: HttpNodeOptions): HttpEndpoint {
  if (own.url !== undefined && (own.host ?? own.port) !== undefined) {
    throw new Error('its node options have a url, and a host or a port too: give one or the other')
  }
  const url = own.url === undefined ? urlOf(id, settings, own) : ownUrl(own.url)
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    authorization: bearer(own.token ?? settings.token),
    tls: own.tls ?? settings.tls,
  }
}

function urlOf(id: string, settings: EndpointSettings, own: HttpNodeOptions): URL {
  const address = own.host === undefined ? addressOf(id) : elsewhere(id, own.host)
  const { protocol, path } = settings
  const port = own.port ?? settings.port
  // An agent on a port of its own does not speak what the service speaks.
  const scheme = port === undefined ? (address.protocol ?? protocol) : protocol
  return new URL(`${scheme}://${address.host}:${port ?? address.port ?? ''}${path}`)
}

// Where the host is given, the id may be anything; if it has a port, that still counts.
function elsewhere(id: string, host: string): Address {
  const bare = bareHost(host)
  const address = isAddress(id) ? addressOf(id) : undefined
  return {
    protocol: address?.protocol,
    host: bare.includes(':') ? `[${bare}]` : bare,
    port: address?.port,
  }
}

function ownUrl(url: string): URL {
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new Error(`${parsed.protocol} is not HTTP`)
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error('a URL with a password: use the token option')
  return parsed
}
