import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestLike, ResponseLike } from './exchange.js'
import type { LoadSource, MiddlewareOptions } from './options.js'
import { Serving } from './serving.js'

/**
 * Wraps a handler of node:http, node:https, or node:http2 in its compatible form: counts its requests in the agent's
 * `traffic`, and adds `endpoint-load-metrics` to its responses.
 *
 * @example
 * ```ts
 * http.createServer(httpMiddleware(agent, (request, response) => response.end('hello'))).listen(8080)
 * ```
 * @param agent what `await createAgent()` gave
 * @throws OptionError
 */
export function httpMiddleware<
  Q extends RequestLike = IncomingMessage,
  S extends ResponseLike = ServerResponse,
  R = unknown,
>(
  agent: LoadSource,
  handler: (request: Q, response: S) => R,
  options?: MiddlewareOptions,
): (request: Q, response: S) => R {
  const serving = new Serving(agent, options)
  return function (this: unknown, request, response) {
    serving.begin(request, response)
    return handler.call(this, request, response)
  }
}
