import * as v from 'valibot'
import { checkOptions, number, options, text, whole } from '../options.js'
import { checkExposure, serverTokenSchema } from '../web/token.js'
import { type ServerTls, serverTlsSchema } from '../web/web-server.js'

/** Options of `balancer.serve`. */
export interface ServeOptions {
  /** Address to listen on. Default `127.0.0.1`: loopback alone. Any other needs a `token`. */
  readonly host?: string | undefined
  /** Port to listen on, 0 for any free one. Default 0. */
  readonly port?: number | undefined
  /**
   * Who looks must send `Authorization: Bearer <token>`: 1 to 1,024 visible ASCII characters. The page, which shows
   * nothing by itself, asks for it. Default none, which is an error if `host` is not loopback, unless `tls` asks for client
   * certificates. `false`: serve without one on any host.
   */
  readonly token?: string | false | undefined
  /** Serve by HTTPS. Default plain HTTP. */
  readonly tls?: ServerTls | undefined
  /** From one look at the balancer to the next while somebody watches, ms, 100 to 60,000. Default 1,000. */
  readonly interval?: number | undefined
  /** Connections at a time, at least 1; further ones are closed at once, and counted. Default 64. */
  readonly maxConnections?: number | undefined
}

const serveOptions = options({
  host: v.optional(text('an address or a host name'), '127.0.0.1'),
  port: v.optional(whole(0, 65_535), 0),
  token: v.optional(serverTokenSchema),
  tls: v.optional(serverTlsSchema),
  interval: v.optional(number(100, 60_000, 'a number of milliseconds'), 1_000),
  maxConnections: v.optional(whole(1), 64),
})

/**
 * Checks what was passed to `serve`, and fills in the defaults.
 * @throws OptionError
 */
export function checkServeOptions(given: unknown): v.InferOutput<typeof serveOptions> {
  const checked = checkOptions('serve', given, serveOptions)
  checkExposure('serve.token', checked)
  return checked
}
