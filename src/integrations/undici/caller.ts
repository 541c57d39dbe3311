import type { Dispatcher } from 'undici'
import { leaseElsewhere } from '../../balancer/run.js'
import type { Lease, NodeLike, ReportSource } from '../../index.js'
import { ignoreRejection, isYes } from '../../rejections.js'
import { BINARY_HEADER, REPORT_HEADER } from '../../reports/orca-headers.js'
import type { FailureKind } from './failures.js'
import type { CallBalancer, DispatcherSettings, RetrySettings } from './options.js'
import type { Upstreams } from './upstreams.js'

/** Counts over all requests that a dispatcher has balanced. */
export interface CallCounters {
  /** Requests, each once however often it was sent. */
  requests: number
  /** Times that a request was sent again to another node. */
  retries: number
  /** Retries that there would have been, but for the budget. */
  retriesDenied: number
  /** Requests for which there was no node. */
  unplaced: number
  /** Requests that the caller gave up, or that failed by its own doing. */
  abandoned: number
  /** Failures that no node is blamed for: idle connections that servers had closed, and HTTP/2 streams that they refused. */
  unblamed: number
  /** Failures of nodes by kind: also of those that were retried. */
  failures: Record<FailureKind, number>
}

/** What the calls of a dispatcher have in common: how they come to a node, and what is said of it afterwards. */
export class Caller<N extends NodeLike> {
  readonly balancer: CallBalancer<N>
  readonly upstreams: Upstreams<N>
  readonly retry: RetrySettings | undefined
  readonly isFailure: (status: number) => boolean
  /** How long headers may take where the request does not say, ms; 0: for ever; undefined: nobody has said. */
  readonly headersTimeout: number | undefined
  /**
   * Whether pools of idlest's own undici send the requests. What a factory makes may look at a request's origin, and may be
   * of another version of undici.
   */
  readonly isOwnUndici: boolean
  /** Whether no more requests are taken, so that none is sent again. */
  isClosing = false
  /** Whether what is under way is being ended. */
  isDestroyed = false
  readonly counters: CallCounters = {
    requests: 0,
    retries: 0,
    retriesDenied: 0,
    unplaced: 0,
    abandoned: 0,
    unblamed: 0,
    failures: { connect: 0, timeout: 0, reset: 0, protocol: 0, status: 0 },
  }
  readonly #keyOf: DispatcherSettings['key']
  readonly #observe: { readonly stripHeader: true } | undefined

  constructor(balancer: CallBalancer<N>, upstreams: Upstreams<N>, settings: DispatcherSettings) {
    this.balancer = balancer
    this.upstreams = upstreams
    this.retry = settings.retry === false || settings.retry.attempts === 1 ? undefined : settings.retry
    this.isFailure = (status) => isYes(settings.isFailure(status))
    this.headersTimeout = settings.pool?.headersTimeout ?? undefined
    this.isOwnUndici = settings.factory === undefined
    this.#keyOf = settings.key
    this.#observe = settings.stripHeader ? { stripHeader: true } : undefined
  }

  /** A node for a request. Throws as `acquire` of the balancer does, and what `key` throws. */
  place(request: Dispatcher.DispatchOptions): Lease<N> {
    this.counters.requests++
    this.balancer.retryBudget.earn()
    const key = this.#keyOf?.(request)
    if (key instanceof Promise) ignoreRejection(key)
    return key === undefined ? this.balancer.acquire() : this.balancer.acquire({ key })
  }

  /**
   * A node for a request that failed at others; undefined where there is none, or too much is sent again already.
   * @param isBlameless whether that was not the node's fault, so that the same one will do where there is no other
   */
  placeElsewhere(
    request: Dispatcher.DispatchOptions,
    tried: readonly N[],
    isBlameless: boolean,
  ): Lease<N> | undefined {
    const key = this.#keyOf?.(request)
    const { retryBudget } = this.balancer
    const { denied } = retryBudget.counters
    const lease = leaseElsewhere(this.balancer, key === undefined ? undefined : { key }, tried, isBlameless)
    if (lease !== undefined) this.counters.retries++
    else if (retryBudget.counters.denied > denied) this.counters.retriesDenied++
    return lease
  }

  /** Takes the report off a response. Returns whether there was one. */
  observe(node: N, headers: ReportSource): boolean {
    return this.balancer.observe(node, headers, this.#observe) !== 'absent'
  }

  /** Takes reports that were read elsewhere out of headers by name too, where that is wanted. */
  strip(headers: Record<string, unknown>): void {
    if (this.#observe === undefined) return
    delete headers[BINARY_HEADER]
    delete headers[REPORT_HEADER]
  }
}
