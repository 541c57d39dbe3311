import * as v from 'valibot'
import { flag, options, text } from './options.js'
import { type Pem, pemSchema } from './pem.js'

/** How the other side of a connection proves who it is, and how this process does. */
export interface TlsSettings {
  /** Certificates that are trusted instead of the well-known ones. Default: those, as Node.js has them. */
  readonly ca?: Pem | undefined
  /** This process's certificate, where it is asked for one. Default none. */
  readonly cert?: Pem | undefined
  /** Its private key. Default none. */
  readonly key?: Pem | undefined
  /** The name that the other side's certificate must bear; default the host that is connected to. */
  readonly servername?: string | undefined
  /** false takes any certificate: for tests. Default true. */
  readonly rejectUnauthorized?: boolean | undefined
}

/** `TlsSettings`. */
export const tlsSchema = options({
  ca: v.optional(pemSchema),
  cert: v.optional(pemSchema),
  key: v.optional(pemSchema),
  servername: v.optional(text()),
  rejectUnauthorized: v.optional(flag()),
})
