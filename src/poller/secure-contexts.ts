import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { TlsSettings } from '../client-tls.js'
import { pemBuffers } from '../pem.js'

/** TLS contexts by their settings: parsing the certificates anew for each of a thousand nodes takes seconds. */
export class SecureContexts {
  // The nodes of one message share the object, those of another have an equal one.
  readonly #same = new WeakMap<TlsSettings, SecureContext>()
  readonly #equal = new Map<string, SecureContext>()

  /** What a connection by TLS takes. An IP address is not sent as the server's name, which it may not be. */
  connection(host: string, settings: TlsSettings) {
    const { servername = isIP(host) === 0 ? host : '', rejectUnauthorized = true } = settings
    return { host, servername, rejectUnauthorized, secureContext: this.get(settings) }
  }

  get(settings: TlsSettings): SecureContext {
    let context = this.#same.get(settings)
    if (context === undefined) {
      context = this.#find(settings)
      this.#same.set(settings, context)
    }
    return context
  }

  #find({ ca, cert, key }: TlsSettings): SecureContext {
    const pem = { ca: ca && pemBuffers(ca), cert: cert && pemBuffers(cert), key: key && pemBuffers(key) }
    const name = JSON.stringify(pem)
    let context = this.#equal.get(name)
    if (context === undefined) {
      context = createSecureContext(pem)
      this.#equal.set(name, context)
    }
    return context
  }
}
