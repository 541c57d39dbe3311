import * as v from 'valibot'
import { flag, options, secret, text } from '../../options.js'

/** How a node's agent proves who it is, and how this process does. PEM texts or their bytes. */
export interface TlsSettings {
  /** Certificates that are trusted instead of the well-known ones. */
  ca?: string | Uint8Array | (string | Uint8Array)[]
  /** This process's certificate, where agents ask for one. */
  cert?: string | Uint8Array
  /** Its private key. */
  key?: string | Uint8Array
  /** The name that the agent's certificate must bear; default the host that is connected to. */
  servername?: string
  /** false takes any certificate: for tests. Default true. */
  rejectUnauthorized?: boolean
}

const pem = v.union([text(), v.instance(Uint8Array)], 'PEM text or bytes')

/** `TlsSettings`. */
export const tlsSchema = options({
  ca: v.optional(v.union([pem, v.array(pem)], 'PEM text or bytes, or several')),
  cert: v.optional(pem),
  key: v.optional(pem),
  servername: v.optional(text()),
  rejectUnauthorized: v.optional(flag()),
})

const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

/** A bearer token. */
export const tokenSchema = secret(isToken, 'visible ASCII characters without spaces, at least one')

/** The Authorization header for a token. */
export function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`
}
