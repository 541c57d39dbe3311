import { secret } from './options.js'
import { isUint8Array } from './typed-array.js'

/** PEM text, or several of them. */
export type Pem = string | Uint8Array | readonly (string | Uint8Array)[]

function isPem(value: unknown): value is Pem {
  if (Array.isArray(value)) return value.length > 0 && value.every(isPem)
  return (typeof value === 'string' && value !== '') || isUint8Array(value)
}

/** `Pem`. Whether it is right shows only when it is used. Errors do not show it: it may be a private key. */
export const pemSchema = secret(isPem, 'PEM text, as a string, a buffer or an array of these')

/** PEM as Node.js takes it. From another thread bytes come as plain Uint8Arrays, which it does not take everywhere. */
export function pemBuffers(pem: Pem): Buffer[] {
  const several = typeof pem === 'string' || isUint8Array(pem) ? [pem] : pem
  return several.map((one) => Buffer.from(one))
}
