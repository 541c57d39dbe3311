import { secret } from '../../options.js'

const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

/** A bearer token, of any length: whether it is too long is for the server to say. */
export const tokenSchema = secret(isToken, 'visible ASCII characters without spaces, at least one', 'token')

/** The Authorization header for a token. */
export function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`
}
