import { isIPv6 } from 'node:net'
import { checkOptions } from '../options.js'
import { reasonOf } from './answer.js'
import { type HttpTransport, httpNodeSchema, type TlsSettings } from './transport.js'

/** Where and how one node is asked: plain data, for any thread. */
export interface HttpTarget {
  readonly id: string
  /** Scheme, host and port. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** The Authorization header. */
  readonly authorization: string | undefined
  readonly tls: TlsSettings | undefined
}

/** A node that can't be asked, and why. */
export interface NoTarget {
  readonly id: string
  readonly reason: string
}

// A name of DNS has at most 253 characters: host, host:port, [v6] or [v6]:port; a bare IPv6 address is told apart before.
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]%]{1,253})(?::(\d{1,5}))?$/i

function urlOf(id: string, { settings }: HttpTransport): URL {
  const match = isIPv6(id) ? [id, `[${id}]`, undefined] : HOST_AND_PORT.exec(id)
  if (match === null) throw new Error('its id is not host:port: give its url in the node option')
  const [, host, port = ''] = match
  return new URL(`${settings.protocol}://${host}:${settings.port ?? port}${settings.path}`)
}

function ownUrl(url: string): URL {
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new Error(`${parsed.protocol} is not HTTP`)
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error('a URL with a password: use the token option')
  return parsed
}

/** Works out how a node is asked. Never throws: a node that can't be asked fails alone. */
export function resolveTarget(id: string, transport: HttpTransport): HttpTarget | NoTarget {
  const { settings } = transport
  try {
    const own = checkOptions(
      `httpTransport.node(${JSON.stringify(id)})`,
      settings.node?.(id) ?? {},
      httpNodeSchema,
    )
    const url = own.url === undefined ? urlOf(id, transport) : ownUrl(own.url)
    const token = own.token ?? settings.token
    return {
      id,
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      tls: own.tls ?? settings.tls,
    }
  } catch (error) {
    return { id, reason: reasonOf(error) }
  }
}

/** Whether the node can be asked. */
export function isTarget(target: HttpTarget | NoTarget): target is HttpTarget {
  return 'origin' in target
}
