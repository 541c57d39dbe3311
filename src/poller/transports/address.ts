import { isIPv6 } from 'node:net'
import * as v from 'valibot'
import { bareHost } from '../../host.js'

// A name of DNS has at most 253 characters: host, host:port, [v6] or [v6]:port; a bare IPv6 address is told apart before.
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]%]{1,253})(?::(\d{1,5}))?$/i

// An origin for an id, as undici's BalancedPool takes them.
const SCHEME = /^(https?):\/\/(.*?)\/?$/i

/** Host and port as in a URL: an IPv6 address in brackets. */
export interface Address {
  /** Undefined where the id is no URL. */
  readonly protocol: 'http' | 'https' | undefined
  readonly host: string
  /** Undefined where the id has none. */
  readonly port: number | undefined
}

/**
 * Reads a node's id as `host`, `host:port`, an IPv6 address, with a port in brackets, or one of these as a URL without a
 * path: `http://host:port`.
 * @throws Error where it is none; the message says what is to be done instead
 */
export function addressOf(
  id: string,
  instead = "give its url by the transport's option `node: (id) => ({ url })`",
): Address {
  const [, scheme, rest = id] = SCHEME.exec(id) ?? []
  const match = isIPv6(rest) ? [rest, `[${rest}]`, undefined] : HOST_AND_PORT.exec(rest)
  if (match === null) throw new Error(`its id is not host:port: ${instead}`)
  const [, host = '', port] = match
  if (port !== undefined && Number(port) > 65_535) throw new Error(`its id has the port ${port}`)
  const protocol = scheme?.toLowerCase() as 'http' | 'https' | undefined
  return { protocol, host, port: port === undefined ? undefined : Number(port) }
}

/** Whether an id is `host`, `host:port` or an IPv6 address. */
export function isAddress(id: string): boolean {
  try {
    return addressOf(id) !== undefined
  } catch {
    return false
  }
}

const HOST = 'a host name or an IP address, without a port'

/** A host of a node's own, an IPv6 address with or without brackets. */
export const hostSchema = v.custom<string>(
  (value) =>
    typeof value === 'string' && (isIPv6(bareHost(value)) || /^[^\s/\\?#@:[\]%]{1,253}$/.test(value)),
  HOST,
)
