import type { RequestLike, ResponseLike } from './exchange.js'
import type { LoadSource, MiddlewareOptions } from './options.js'
import { Serving } from './serving.js'

/** What is needed of a context of Koa. */
export interface KoaContextLike {
  /** Node's request. */
  readonly req: RequestLike
  /** Node's response. */
  readonly res: ResponseLike
}

/**
 * Middleware for Koa: counts requests in the agent's `traffic`, and adds `endpoint-load-metrics` to responses. To be used
 * before everything else.
 *
 * ```ts
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(koaMiddleware(agent))
 * ```
 * @param agent what `await createAgent()` gave
 * @throws OptionError
 */
export function koaMiddleware(
  agent: LoadSource,
  options?: MiddlewareOptions,
): <T>(context: KoaContextLike, next: () => Promise<T>) => Promise<T> {
  const serving = new Serving(agent, options)
  return ({ req, res }, next) => {
    serving.begin(req, res)
    return next()
  }
}
