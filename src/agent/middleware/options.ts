import * as v from 'valibot'
import { OptionError } from '../../errors.js'
import { checkOptions, method, milliseconds, oneOf, options } from '../../options.js'
import type { Report } from '../../report.js'
import { HEADER_FORMS, type HeaderForm } from '../../reports/orca-headers.js'
import { Traffic } from '../traffic.js'
import type { RequestLike } from './exchange.js'

/** What middleware needs of an agent. */
export interface LoadSource {
  /** The whole report as it is now; undefined while there is none. */
  report(): Report | undefined
  /** What is told of each request. */
  readonly traffic: Traffic
}

/** Options of the middleware for Node.js, Express, Fastify and Koa. */
export interface MiddlewareOptions {
  /**
   * Which responses take a report along: those to requests that ask for it by `endpoint-load-metrics-format: TEXT` (or
   * JSON, or BIN), in that form; all; or those that a function picks, such as by where they come from. Default `'asked'`:
   * whoever may send requests may ask.
   */
  readonly when?: 'asked' | 'always' | ((request: RequestLike) => boolean) | undefined
  /** The form where nobody asked for one, and a report is sent all the same. Default `'TEXT'`. */
  readonly form?: HeaderForm | undefined
  /**
   * How long a report may be sent again before it is written anew, ms: so much older than it says it may be. 0: each
   * response has one of its own. Default 10.
   */
  readonly reuse?: number | undefined
  /**
   * Requests that don't count and get no report, such as health checks, or streams of events that stay open for hours.
   * Default none.
   */
  readonly skip?: ((request: RequestLike) => boolean) | undefined
}

/** Middleware options with their defaults. */
export type CheckedMiddlewareOptions = Required<Omit<MiddlewareOptions, 'skip'>> &
  Pick<MiddlewareOptions, 'skip'>

const middlewareOptions = options({
  when: v.optional(
    v.union(
      [oneOf(['asked', 'always']), method<(request: RequestLike) => boolean>()],
      "'asked', 'always' or a function that picks requests",
    ),
    'asked',
  ),
  form: v.optional(oneOf(HEADER_FORMS), 'TEXT'),
  reuse: v.optional(milliseconds(0), 10),
  skip: v.optional(method<(request: RequestLike) => boolean>()),
})

/**
 * Checks what was passed to a middleware and fills in the defaults.
 * @throws OptionError
 */
export function checkMiddlewareOptions(given: unknown): CheckedMiddlewareOptions {
  return checkOptions('', given, middlewareOptions)
}

/**
 * Checks that what was passed is an agent. A promise of one is the usual mistake.
 * @throws OptionError
 */
export function checkSource(source: unknown): LoadSource {
  const given: Partial<Record<keyof LoadSource, unknown>> = Object(source)
  if (typeof given.report === 'function' && given.traffic instanceof Traffic) return source as LoadSource
  throw new OptionError('agent', source, 'an agent: what `await createAgent()` gives')
}
