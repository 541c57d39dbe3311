import type { EventEmitter } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import type { NodeLike } from '../../index.js'
import { type BalancedDispatcherStats, BalancedDispatcher as Implementation } from './balanced-dispatcher.js'
import type { BalancedDispatcherOptions, CallBalancer } from './options.js'

// undici 7 and 8 have types of their own for the same things, neither of which is assignable to the other. What is declared
// here is assignable to both.

/** Options of a request, as undici 7 or 8 has them. */
export type OfEither<O> = Omit<O, 'headers'> & {
  headers?: Dispatcher.DispatchOptions['headers'] | OutgoingHttpHeaders
}

/** A request, as `dispatch` of a dispatcher takes it: `Dispatcher.DispatchOptions` of undici 7 or 8. */
export type DispatchRequest = OfEither<Dispatcher.DispatchOptions>

/** What hears how a request goes: `Dispatcher.DispatchHandler` of undici 7 or 8. */
export type HandlerOfEither = Omit<Dispatcher.DispatchHandler, 'onBodySent'> & {
  onBodySent?(first: never, second: never): void
}

/** What is put between callers and a dispatcher: `Dispatcher.DispatcherComposeInterceptor` of undici 7 or 8. */
export type InterceptorOfEither = (dispatch: DispatcherOfEither['dispatch']) => DispatcherOfEither['dispatch']

/** A dispatcher of undici 7 or 8, such as a `Pool` or an `Agent`. */
export interface EitherDispatcher extends EventEmitter {
  /** Sends a request. */
  dispatch(options: object, handler: object): boolean
  /** Takes no more requests, and ends when those under way have. */
  close(): Promise<void>
  /** Ends all requests. */
  destroy(error: Error | null): Promise<void>
}

/** Options of a node's pool: those that undici 7 and 8 have in common. */
export type PoolOptions = Omit<Pool.Options, 'factory' | 'interceptors'>

/** What is called once, with an error or the result. */
export type Done<D> = (error: Error | null, data: D) => void

/** What `BalancedDispatcher` has of undici's `Dispatcher`, for both majors: see there. */
export interface DispatcherOfEither extends EventEmitter, Pick<Dispatcher, 'close' | 'destroy'> {
  /**
   * Sends a request, and tells the handler how it goes: one of undici 7 or 8, or of the interface before.
   * @returns false where no node that may be picked would begin with another request now, until 'drain' is emitted
   */
  dispatch(options: DispatchRequest, handler: HandlerOfEither): boolean
  /** This with interceptors, such as those of undici. */
  compose(interceptors: readonly InterceptorOfEither[]): DispatcherOfEither
  /** The same, with the interceptors one by one. */
  compose(...interceptors: readonly InterceptorOfEither[]): DispatcherOfEither
  /** Sends a request, and calls back with the response. */
  request<T = null>(
    options: OfEither<Dispatcher.RequestOptions<T>>,
    done: Done<Dispatcher.ResponseData<T>>,
  ): void
  /** Sends a request. */
  request<T = null>(options: OfEither<Dispatcher.RequestOptions<T>>): Promise<Dispatcher.ResponseData<T>>
  /** Sends a request, writes the body of the response to a stream, and calls back. */
  stream<T = null>(
    options: OfEither<Dispatcher.RequestOptions<T>>,
    factory: Dispatcher.StreamFactory<T>,
    done: Done<Dispatcher.StreamData<T>>,
  ): void
  /** Sends a request, and writes the body of the response to a stream. */
  stream<T = null>(
    options: OfEither<Dispatcher.RequestOptions<T>>,
    factory: Dispatcher.StreamFactory<T>,
  ): Promise<Dispatcher.StreamData<T>>
  /** Sends a request as a stream: its body is written to, and that of the response read from it. */
  pipeline<T = null>(
    options: OfEither<Dispatcher.PipelineOptions<T>>,
    handler: Dispatcher.PipelineHandler<T>,
  ): Duplex
  /** Connects through a node, and calls back. */
  connect<T = null>(
    options: OfEither<Dispatcher.ConnectOptions<T>>,
    done: Done<Dispatcher.ConnectData<T>>,
  ): void
  /** Connects through a node. */
  connect<T = null>(options: OfEither<Dispatcher.ConnectOptions<T>>): Promise<Dispatcher.ConnectData<T>>
  /** Goes over to another protocol, and calls back. */
  upgrade(options: OfEither<Dispatcher.UpgradeOptions>, done: Done<Dispatcher.UpgradeData>): void
  /** Goes over to another protocol. */
  upgrade(options: OfEither<Dispatcher.UpgradeOptions>): Promise<Dispatcher.UpgradeData>
  /** The listeners of an event. */
  listeners(event: string | symbol): ((origin: URL) => void)[]
  /** The listeners of an event, with those that are called once. */
  rawListeners(event: string | symbol): ((origin: URL) => void)[]
}

/** The type of `BalancedDispatcher`. */
export interface BalancedDispatcher<N extends NodeLike = NodeLike> extends DispatcherOfEither {
  /** Whether it takes no more requests. */
  readonly closed: boolean
  /** Whether what was under way was ended too. */
  readonly destroyed: boolean
  /** Counters since it was made, and how many nodes there are dispatchers for. */
  readonly stats: BalancedDispatcherStats
  /** @internal which nodes it is for */
  readonly nodes?: readonly N[]
}

/** Makes dispatchers. */
export interface BalancedDispatcherConstructor {
  /** What all dispatchers inherit. */
  readonly prototype: BalancedDispatcher
  /**
   * Makes a dispatcher over a balancer.
   * @param balancer stays the caller's: it is not closed with this
   *
   * @throws OptionError
   */
  new <N extends NodeLike = NodeLike>(
    balancer: CallBalancer<N>,
    options?: BalancedDispatcherOptions<N>,
  ): BalancedDispatcher<N>
}

/**
 * Sends each request to the node that a balancer picks for it: a `Dispatcher` for undici 7 and 8 (their `fetch`, `request`,
 * `stream`, `pipeline`, `connect`, `upgrade` and `setGlobalDispatcher`), and for Node's own `fetch`.
 *
 * A request counts as in flight at its node until its response has been read to the end, it has failed or was given up, or
 * the socket that it was upgraded to is closed. The balancer learns the outcome: failures with their kind, requests that
 * the caller gave up as neutral, and reports that responses carry.
 *
 * @example
 * ```ts
 * import { createBalancer } from 'idlest'
 * import { BalancedDispatcher } from 'idlest/undici'
 * import { fetch } from 'undici'
 *
 * const balancer = createBalancer({ nodes: ['10.0.0.1:8080', '10.0.0.2:8080'] })
 * const dispatcher = new BalancedDispatcher(balancer, { for: 'http://reports.local' })
 * const response = await fetch('http://reports.local/today', { dispatcher })
 * ```
 */
export const BalancedDispatcher = Implementation as unknown as BalancedDispatcherConstructor
