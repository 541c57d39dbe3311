import type { FailureCause } from '../../balancer/failure-causes.js'
import type { Lease, NodeLike } from '../../index.js'
import { type Dispatcher, errors } from '../../undici.js'
import type { Attempt } from './attempt.js'
import { isBegun, isKept, isOfStream, listened } from './body.js'
import { handlerFor } from './bridge.js'
import type { Caller } from './caller.js'
import type { FailureKind } from './failures.js'
import type { Upstream } from './upstreams.js'

const NONE: readonly never[] = []

/**
 * One request of a caller's, whichever nodes it is sent to. What the caller hears is one response, or one error; nothing
 * of a response is passed on until it is sure that it will not be asked for elsewhere.
 */
export abstract class Call<N extends NodeLike> {
  readonly caller: Caller<N>
  /** Whether a response is passed on: then there is no going back. */
  isAnswered = false
  /** Whether the caller gave up, and why. */
  hasGivenUp = false
  reason: Error | null = null
  protected current: Attempt<N> | undefined = undefined
  // Plain fields: one of these is made for each request.
  private readonly request: Dispatcher.DispatchOptions
  // How long headers may take over all attempts, ms; 0: nobody has said, so undici's default holds for each.
  private readonly limit: number
  private readonly begun: number
  private tried: readonly N[] = NONE
  private next: Lease<N> | undefined = undefined
  // Whether the caller was told that it begins, and has not given up then.
  private hasBegun = false
  private hasFailed = false
  private fault: unknown = undefined

  constructor(caller: Caller<N>, request: Dispatcher.DispatchOptions) {
    this.caller = caller
    this.request = request.body ? listened(request, (fault) => this.threw(fault)) : request
    this.limit = request.headersTimeout ?? caller.headersTimeout ?? 0
    // The time is asked for where it will be needed: that takes as long as the pick.
    this.begun = this.limit === 0 || caller.retry === undefined ? 0 : performance.now()
  }

  /** Whether it asks for a connection of its own. */
  get isUpgrade(): boolean {
    const { upgrade, method } = this.request
    return Boolean(upgrade) || method === 'CONNECT'
  }

  /**
   * Tells the caller that it begins, and sends it to the node of a lease. The caller is told before there is a connection:
   * it has nothing else to give up by while one is made.
   */
  begin(lease: Lease<N>): void {
    const attempt = this.attemptAt(lease)
    this.current = attempt
    try {
      this.start()
    } catch (error) {
      attempt.unsent()
      this.fail(error as Error)
      return
    }
    if (this.hasGivenUp) return
    this.hasBegun = true
    this.sendBy(attempt, lease.node)
  }

  private sendBy(attempt: Attempt<N>, node: N): void {
    const { upstreams } = this.caller
    let upstream: Upstream<N>
    try {
      upstream = upstreams.of(node)
    } catch (error) {
      // A node without an origin, or for which the user's function throws: other nodes may do.
      if (attempt.misplaced(error as Error)) this.fail(error as Error)
      return
    }
    const { dispatcher } = upstream
    const handler = attempt as Dispatcher.DispatchHandler
    try {
      const isFree = dispatcher.dispatch(
        this.optionsAt(upstream.origin),
        this.caller.isOwnUndici ? handler : handlerFor(dispatcher, handler),
      )
      // What fails at once is refused for what it is, and not since the node has too much to do.
      if (!isFree && !attempt.isOver) upstreams.fill(upstream)
    } catch (error) {
      attempt.unsent()
      this.fail(error as Error)
    }
  }

  /**
   * Whether a failure at this attempt's node is to be tried at another: then it has a lease, for `sendElsewhere`.
   * @param cause where the failure is nobody's fault
   */
  isAgain(kind: FailureKind, { node }: Attempt<N>, cause?: FailureCause): boolean {
    const { retry, isClosing } = this.caller
    if (retry === undefined || isClosing || this.isAnswered || this.hasFailed || this.isUnwanted())
      return false
    if (!retry.on.includes(kind) || this.tried.length + 1 >= retry.attempts || this.left() <= 0) return false
    if (!this.isRepeatable(kind, cause)) return false
    this.tried = [...this.tried, node]
    this.next = this.caller.placeElsewhere(this.request, this.tried, cause !== undefined)
    return this.next !== undefined
  }

  sendElsewhere(): void {
    const lease = this.next
    this.next = undefined
    if (lease === undefined) return
    const attempt = this.attemptAt(lease)
    this.current = attempt
    this.sendBy(attempt, lease.node)
  }

  /** Ends it, as the caller wants. */
  abort(reason?: Error): void {
    const { current } = this
    if (this.hasGivenUp || current === undefined || current.isOver) return
    this.hasGivenUp = true
    this.reason = reason ?? new errors.RequestAbortedError()
    const { isSent } = current
    // Nothing was asked of the node yet.
    if (this.hasBegun) current.abort(this.reason)
    else current.unsent()
    // undici tells of the end of what has a connection.
    if (!isSent) this.fail(this.reason)
  }

  /** Notes what the caller's own handler threw, or the body that it gave. */
  threw(fault: unknown): void {
    this.fault = fault
  }

  /** Whether an error is the caller's doing: thrown by its handler, or by the body it sends; or all is being destroyed. */
  isOwnFault(error: Error): boolean {
    return error === this.fault || isOfStream(this.request.body, error) || this.caller.isDestroyed
  }

  /** Tells the caller that it has failed, once. */
  fail(error: Error): void {
    if (this.hasFailed) return
    this.hasFailed = true
    this.tell(error)
  }

  /** Tells the caller's handler that the request begins, with what it can give up by. */
  protected abstract start(): void

  /** Tells the caller's handler that it has failed. */
  protected abstract tell(error: Error): void

  /** What hears of an attempt: a handler of undici's, of the interface that the caller's has. */
  protected abstract attemptAt(lease: Lease<N>): Attempt<N>

  // The listeners of a signal are called one by one: it may be aborted before undici hears of it.
  private isUnwanted(): boolean {
    const { signal } = this.request as { signal?: AbortSignal | null }
    return this.hasGivenUp || signal?.aborted === true
  }

  // ms that headers may take yet.
  private left(): number {
    return this.limit === 0 ? Number.POSITIVE_INFINITY : this.limit - (performance.now() - this.begun)
  }

  private isRepeatable(kind: FailureKind, cause?: FailureCause): boolean {
    const { body, method } = this.request
    // The server says that it did nothing with it, but a part of the body may have been read to be sent.
    if (cause === 'unprocessed') return isKept(body)
    // Without a connection nothing was sent, and nothing was read of the body.
    if (kind === 'connect') return !isBegun(body)
    return !this.isUpgrade && this.caller.retry?.methods.includes(method) === true && isKept(body)
  }

  private optionsAt(origin: string): Dispatcher.DispatchOptions {
    const { retry, isOwnUndici } = this.caller
    const isFirst = this.tried.length === 0
    const isLast = retry === undefined || this.tried.length + 1 >= retry.attempts
    const mayBeShort = !isLast && retry.timeout !== undefined && this.isRepeatable('timeout')
    const most = mayBeShort ? retry.timeout : undefined
    const isAsGiven = isFirst && most === undefined
    // A pool has one origin, whatever the request says; and of a copy undici itself takes a fifth longer to read.
    if (isAsGiven && isOwnUndici) return this.request
    // The name comes first: to add it to a copy takes ten times as long.
    const options = { origin, ...this.request }
    options.origin = origin
    if (isAsGiven) return options
    const left = Math.min(this.left(), most ?? Number.POSITIVE_INFINITY)
    if (left !== Number.POSITIVE_INFINITY) options.headersTimeout = Math.max(1, Math.ceil(left))
    return options
  }
}
