import * as v from 'valibot'
import { OptionError } from '../../errors.js'
import type { Balancer, Key, NodeLike } from '../../index.js'
import { checkOptions, flag, method, milliseconds, oneOf, options, whole } from '../../options.js'
import { ignoreRejection } from '../../rejections.js'
import { Client, Dispatcher, Pool } from '../../undici.js'
import type { DispatchRequest, EitherDispatcher, PoolOptions } from './either-major.js'
import { FAILURE_KINDS, type FailureKind } from './failures.js'

/** What a dispatcher needs of a balancer: `Balancer` and `AttachedBalancer` have it. */
export type CallBalancer<N extends NodeLike> = Pick<
  Balancer<N>,
  'acquire' | 'observe' | 'nodes' | 'available' | 'retryBudget'
>

/** Which requests are sent again to another node, and how often: within the balancer's `retryBudget`. */
export interface RetryOptions {
  /** How often a request is sent at most, the first time too, 1 to 10. Default 2. */
  attempts?: number | undefined
  /** Statuses that are not passed on where another node can be asked. Default 502, 503 and 504. */
  statuses?: readonly number[] | undefined
  /** Kinds of failures after which another node is asked. Default all. */
  on?: readonly FailureKind[] | undefined
  /**
   * Methods of requests that may be sent again after they were sent. Default those that HTTP calls idempotent: GET, HEAD,
   * OPTIONS, PUT, DELETE, TRACE. A request that was not sent, for want of a connection, is sent elsewhere whatever its
   * method.
   */
  methods?: readonly string[] | undefined
  /**
   * How long the headers of an attempt that is not the last may take, ms, from when it is sent. undici looks at such times
   * every half second. Default: as long as those of the request.
   */
  timeout?: number | undefined
}

/** Options of `BalancedDispatcher`. */
export interface BalancedDispatcherOptions<N extends NodeLike = NodeLike> {
  /**
   * Where a node is: protocol, host and port. Called when it is first picked. Default: its id, such as `10.0.0.1:8080`,
   * which is reached by HTTP, or `https://10.0.0.1:8443`.
   */
  origins?: ((node: N) => string | URL) | undefined
  /**
   * Origins that stand for the nodes, such as `http://service.local`: requests to them are balanced, and so are those
   * without an origin; others go where they say. Default: all requests are balanced, whatever their origin.
   */
  for?: string | URL | readonly (string | URL)[] | undefined
  /** Where requests to other origins go. Default an `Agent` of its own. */
  otherwise?: EitherDispatcher | undefined
  /** What to pick by, for `hashRing` and `maglev`; undefined: anyone. Default: anyone. */
  key?: ((request: DispatchRequest) => Key | undefined) | undefined
  /** Options of the nodes' pools, such as `connections`. Default: undici's own. */
  pool?: PoolOptions | undefined
  /** Makes what sends the requests of a node: a dispatcher of undici 7 or 8. Default `new Pool(origin, pool)` of undici 7. */
  factory?: ((origin: string, pool: PoolOptions, node: N) => EitherDispatcher) | undefined
  /** Which statuses count as failed. Default: 429, and 500 and above. */
  isFailure?: ((status: number) => boolean) | undefined
  /** Which requests are sent again to another node; false: none. Default: with the defaults of its options. */
  retry?: RetryOptions | false | undefined
  /** Takes reports out of the headers of responses once they are read, as a proxy should. Default false. */
  stripHeader?: boolean | undefined
}

/** What HTTP calls idempotent: RFC 9110, 9.2.2. */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']

const status = whole(200, 999)

const retryOptions = options({
  attempts: v.optional(whole(1, 10), 2),
  statuses: v.optional(v.array(status, 'an array of statuses'), () => [502, 503, 504]),
  on: v.optional(v.array(oneOf(FAILURE_KINDS), 'an array of kinds of failures'), () => [...FAILURE_KINDS]),
  methods: v.optional(v.array(v.string('a method'), 'an array of methods'), () => IDEMPOTENT),
  timeout: v.optional(milliseconds(1)),
})

const origin = v.union([v.string(), v.instance(URL)], 'an origin, such as "http://service.local"')

// Another copy of undici has another Dispatcher.
const dispatcher = v.custom<Dispatcher>(
  (value) =>
    value instanceof Dispatcher ||
    (typeof value === 'object' &&
      value !== null &&
      'dispatch' in value &&
      typeof value.dispatch === 'function'),
  'a dispatcher of undici',
)

const dispatcherOptions = options({
  origins: v.optional(method<(node: NodeLike) => string | URL>()),
  for: v.optional(
    v.union([origin, v.pipe(v.array(origin), v.minLength(1))], 'an origin, or an array of at least one'),
  ),
  otherwise: v.optional(dispatcher),
  key: v.optional(method<(request: Dispatcher.DispatchOptions) => Key | undefined>()),
  pool: v.optional(
    v.custom<Pool.Options>((value) => typeof value === 'object' && value !== null, 'options of a pool'),
  ),
  factory: v.optional(method<(origin: string, pool: Pool.Options, node: NodeLike) => Dispatcher>()),
  isFailure: v.optional(
    method<(status: number) => boolean>(),
    () => (code: number) => code === 429 || code >= 500,
  ),
  retry: v.optional(v.union([v.literal(false), retryOptions], 'an object of options, or false'), () =>
    v.parse(retryOptions, {}),
  ),
  stripHeader: v.optional(flag(), false),
})

/** Checked options. */
export type DispatcherSettings = v.InferOutput<typeof dispatcherOptions>
export type RetrySettings = v.InferOutput<typeof retryOptions>

/** Throws OptionError. */
export function settingsOf(given: unknown): DispatcherSettings {
  return checkOptions('', given, dispatcherOptions)
}

/** Checks options of a pool as undici does, which looks at most of them at the first request. Throws OptionError. */
export function checkPool(pool: Pool.Options): void {
  try {
    for (const made of [new Pool('http://127.0.0.1', pool), new Client('http://127.0.0.1', pool)]) {
      void made.destroy()
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it refuses these'
    throw new OptionError('pool', pool, `options that undici takes: ${why}`, error)
  }
}

/** The origin that a request is for, or a node has. Throws OptionError. */
export function originOf(option: string, value: unknown): string {
  const text = typeof value === 'string' || value instanceof URL ? String(value) : ''
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  // What is left out of an origin would not be sent, such as a user's name.
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || !isOrigin(parsed)) {
    ignoreRejection(value)
    throw new OptionError(option, value, 'an origin: http or https, host and port alone')
  }
  return parsed.origin
}

function isOrigin({ username, password, pathname, search, hash }: URL): boolean {
  return /^\/?$/.test(username + password + pathname + search + hash)
}

/** What sends the requests of a node, by a factory. Throws OptionError. */
export function checkMade(value: Dispatcher): Dispatcher {
  if (v.is(dispatcher, value) && typeof value.on === 'function') return value
  ignoreRejection(value)
  throw new OptionError('factory', value, 'a function that returns a dispatcher of undici')
}

/** What a balancer has to have. Throws OptionError. */
export function checkBalancer<N extends NodeLike>(value: CallBalancer<N>): CallBalancer<N> {
  const isBalancer =
    typeof value === 'object' &&
    value !== null &&
    typeof value.acquire === 'function' &&
    typeof value.observe === 'function' &&
    typeof value.retryBudget === 'object'
  if (!isBalancer)
    throw new OptionError('balancer', value, 'a balancer, from createBalancer() or attachBalancer()')
  return value
}
