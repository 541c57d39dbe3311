import type { RequestLike, ResponseLike } from './exchange.js'
import type { LoadSource, MiddlewareOptions } from './options.js'
import { Serving } from './serving.js'

/** What is needed of an instance of Fastify. */
export interface FastifyLike {
  /** Has `hook` called for each request. */
  addHook(
    name: 'onRequest',
    hook: (
      request: { readonly raw: RequestLike },
      reply: { readonly raw: ResponseLike },
      done: () => void,
    ) => void,
  ): unknown
}

/** A plugin for Fastify's `register`. */
export type FastifyPlugin = (app: FastifyLike, options: unknown, done: () => void) => void

/**
 * Plugin for Fastify: counts requests in the agent's `traffic`, and adds `endpoint-load-metrics` to responses. It is for all
 * routes of the instance that it is registered on, and of the plugins within.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 *
 * const app = fastify()
 * await app.register(fastifyMiddleware(agent))
 * ```
 * @param agent what `await createAgent()` gave
 * @throws OptionError
 */
export function fastifyMiddleware(agent: LoadSource, options?: MiddlewareOptions): FastifyPlugin {
  const serving = new Serving(agent, options)
  const plugin: FastifyPlugin = (app, _options, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      serving.begin(request.raw, reply.raw)
      next()
    })
    done()
  }
  // What Fastify knows a plugin by that is for the instance it is registered on, and not for one of its own.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'idlest',
  })
}
