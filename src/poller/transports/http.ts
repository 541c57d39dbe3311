import * as v from 'valibot'
import { checkOptions, method, oneOf, options, whole } from '../../options.js'
import type { HeaderForm } from '../../reports/orca-headers.js'
import {
  endpointEntries,
  endpointOf,
  type HttpEndpoint,
  type HttpNodeOptions,
  type HttpOptions,
  httpEntries,
  pathSchema,
} from './http-endpoint.js'
import { ownOptions } from './own-options.js'
import { sealed } from './sealed.js'

/** Options of `httpTransport`. */
export interface HttpTransportOptions extends HttpOptions {
  /** The agents' port, 1-65535; default the port in the node's id, else the protocol's. */
  port?: number | undefined
  /** Default `/report`. */
  path?: string | undefined
  /**
   * Asks for reports in headers of this form, by the header `endpoint-load-metrics-format`. Whether it is asked for or
   * not, an answer that has a report in its headers is read by them. Default: not sent.
   */
  format?: HeaderForm | undefined
  /**
   * What a node has of its own; called once per node, when it joins, on the balancer's thread. Default: nothing of its
   * own.
   */
  node?: ((id: string) => HttpNodeOptions | undefined) | undefined
}

/** Options of `httpTransport` with their defaults. */
export type HttpSettings = Readonly<HttpTransportOptions> & {
  readonly protocol: 'http' | 'https'
  readonly path: string
}

/**
 * Asks each node over HTTP. Runs in the polling thread: not redirected, one kept connection a node. A report is in the
 * headers of an answer with a status of 2xx, `endpoint-load-metrics-bin` before `endpoint-load-metrics`, else in the body
 * of one of 200, up to 64 KiB of ORCA's JSON. Made by `httpTransport`.
 */
export interface HttpTransport {
  /** Which transport it is. */
  readonly kind: 'http'
  /** @internal */
  readonly settings: HttpSettings
}

/** Where and how one node is asked: plain data, for any thread. */
export interface HttpTarget extends HttpEndpoint {
  readonly kind: 'http'
  readonly id: string
  readonly format: HeaderForm | undefined
}

const nodeSchema = options(endpointEntries)

const httpSchema = options({
  ...httpEntries,
  port: v.optional(whole(1, 65_535)),
  path: v.optional(pathSchema, '/report'),
  format: v.optional(oneOf(['TEXT', 'JSON', 'BIN'])),
  node: v.optional(method<(id: string) => HttpNodeOptions | undefined>()),
})

/**
 * Makes the transport that asks agents over HTTP: node `10.0.0.1:8080` is asked at `http://10.0.0.1:8080/report`.
 *
 * @example
 * ```ts
 * const transport = httpTransport({ port: 9000, token: process.env.IDLEST_TOKEN })
 * const balancer = createBalancer({ nodes, poll: { transport } })
 * ```
 * @throws OptionError
 */
export function httpTransport(given: HttpTransportOptions = {}): HttpTransport {
  return sealed('http', checkOptions('httpTransport', given, httpSchema))
}

/** Works out where and how a node is asked. Throws an Error that says why it can't be. */
export function resolveHttp(id: string, settings: HttpSettings): HttpTarget {
  const own = ownOptions('httpTransport', id, settings, nodeSchema)
  return { kind: 'http', id, ...endpointOf(id, settings, own), format: settings.format }
}
