import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { TlsSettings } from '../client-tls.js'
import { pemBuffers } from '../pem.js'
import { PerSettings } from './per-settings.js'

function pemOf({ ca, cert, key }: TlsSettings) {
  return { ca: ca && pemBuffers(ca), cert: cert && pemBuffers(cert), key: key && pemBuffers(key) }
}

/** TLS contexts by their settings: parsing the certificates anew for each of a thousand nodes takes seconds. */
export class SecureContexts {
  readonly #contexts = new PerSettings<TlsSettings, SecureContext>(
    (settings) => JSON.stringify(pemOf(settings)),
    (settings) => createSecureContext(pemOf(settings)),
  )

  get(settings: TlsSettings): SecureContext {
    return this.#contexts.get(settings)
  }

  /** What a connection by TLS takes. An IP address is not sent as the server's name, which it may not be. */
  connection(host: string, settings: TlsSettings) {
    const { servername = isIP(host) === 0 ? host : '', rejectUnauthorized = true } = settings
    return { host, servername, rejectUnauthorized, secureContext: this.get(settings) }
  }
}
