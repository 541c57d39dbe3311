import { createHash, timingSafeEqual } from 'node:crypto'
import { OptionError } from '../errors.js'
import { isLoopback } from '../host.js'
import { secret } from '../options.js'

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,1024}$/.test(value)
}

const TOKEN = '1 to 1,024 visible ASCII characters without spaces'

/** A token that can be sent as a bearer's, of a length that a server takes. */
export const tokenSchema = secret(isToken, TOKEN, 'token')

/** The token of a server, or false to serve without one. */
export const serverTokenSchema = secret(
  (value): value is string | false => value === false || isToken(value),
  `${TOKEN}, or false for none`,
  'token',
)

/** How a server may be reached, and what it asks of clients. */
export interface Exposure {
  readonly host: string
  readonly token?: string | false | undefined
  /** With `requestCert`, clients prove who they are by a certificate. */
  readonly tls?: { readonly requestCert?: boolean | undefined } | undefined
}

/**
 * Refuses to serve other machines without authentication, unless `token: false` asks for it: a token whose variable is
 * not set would otherwise leave a server open without a word.
 * @param option the path of the option `token`
 * @throws OptionError
 */
export function checkExposure(option: string, { host, token, tls }: Exposure): void {
  if (token !== undefined || tls?.requestCert || isLoopback(host)) return
  throw new OptionError(
    option,
    undefined,
    `a token (or false, for no authentication), because other machines can reach ${host}`,
  )
}

/**
 * Makes a check of `Authorization: Bearer <token>` headers. Digests are compared, in constant time: neither the place
 * of the first wrong character nor the token's length shows in how long an answer takes. Without a token everything
 * passes.
 */
export function tokenCheck(token: string | false | undefined): (authorization?: string) => boolean {
  if (token === undefined || token === false) return () => true
  const right = digest(token)
  return (authorization = '') => {
    // No token is empty, so what is not a bearer's header equals none.
    const given = /^bearer +(.*)$/i.exec(authorization)?.[1] ?? ''
    return timingSafeEqual(digest(given), right)
  }
}
