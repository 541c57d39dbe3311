import { createHash, timingSafeEqual } from 'node:crypto'
import { secret } from '../options.js'

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,1024}$/.test(value)
}

/** A token that can be sent as a bearer's, of a length that a server takes. */
export const tokenSchema = secret(isToken, '1 to 1,024 visible ASCII characters without spaces')

/**
 * Makes a check of `Authorization: Bearer <token>` headers. Digests are compared, in constant time: neither the place
 * of the first wrong character nor the token's length shows in how long an answer takes.
 */
export function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const right = digest(token)
  return (authorization = '') => {
    // No token is empty, so what is not a bearer's header equals none.
    const given = /^bearer +(.*)$/i.exec(authorization)?.[1] ?? ''
    return timingSafeEqual(digest(given), right)
  }
}
