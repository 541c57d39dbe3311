import { SLOW_PROTOTYPES } from './early.js'
import type { RequestLike, ResponseLike } from './exchange.js'
import type { LoadSource, MiddlewareOptions } from './options.js'
import { Serving } from './serving.js'

/**
 * Middleware for Express, and for all that takes `(request, response, next)`, as Connect and Polka do: counts requests in
 * the agent's `traffic`, and adds `endpoint-load-metrics` to responses. To be used before everything else.
 *
 * @example
 * ```ts
 * import express from 'express'
 *
 * const app = express()
 * app.use(expressMiddleware(agent))
 * ```
 * @param agent what `await createAgent()` gave
 * @throws OptionError
 */
export function expressMiddleware(
  agent: LoadSource,
  options?: MiddlewareOptions,
): (request: RequestLike, response: ResponseLike, next: () => void) => void {
  const serving = new Serving(agent, options, SLOW_PROTOTYPES)
  return (request, response, next) => {
    serving.begin(request, response)
    next()
  }
}
