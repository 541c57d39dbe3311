import type { Duplex } from 'node:stream'
import type { Lease, NodeLike, ReportSource } from '../../index.js'
import type { Call } from './call.js'
import { type FailureKind, failureOf, failureOfAbort } from './failures.js'

/** Bytes that are read of a response that nobody wants, so that its connection may be used again. */
const MOST_UNWANTED = 64 * 1024

/**
 * One time that a request is sent to a node: it counts as in flight there until undici says that it is over. Each handler
 * interface of undici has its own, which calls what is here, and passes on what this says is to be passed on.
 */
export abstract class Attempt<N extends NodeLike> {
  readonly node: N
  protected readonly call: Call<N>
  readonly #lease: Lease<N>
  readonly #start = performance.now()
  #abort: ((reason?: Error) => void) | undefined
  #isOver = false
  #isDropped = false
  #status = 0
  #hasReport = false
  #unwanted = 0

  constructor(call: Call<N>, lease: Lease<N>) {
    this.call = call
    this.#lease = lease
    this.node = lease.node
  }

  /** Whether it counts as in flight no more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether it has a connection. */
  get isSent(): boolean {
    return this.#abort !== undefined
  }

  /** Whether nobody wants to hear of it any more: another node is asked, or the caller gave up. */
  protected get isDropped(): boolean {
    return this.#isDropped
  }

  /** Ends it, as the caller wants. Nothing is passed on where it has no connection yet. */
  abort(reason: Error): void {
    if (this.#abort !== undefined) {
      this.#abort(reason)
      return
    }
    this.#drop()
    this.#giveUp(reason)
  }

  /** Takes in that it never got to undici. */
  unsent(): void {
    this.#drop()
    this.#release({ neutral: true })
  }

  /** It has a connection. Returns whether the caller is to be told. */
  protected connected(abort: (reason?: Error) => void): boolean {
    this.#abort = abort
    if (!this.#isDropped) return this.call.connected()
    abort()
    return false
  }

  /** Headers have come. Returns whether they are to be passed on. */
  protected responded(status: number, headers: ReportSource): boolean {
    if (this.#isDropped) return false
    if (status < 200) return true
    const { caller } = this.call
    this.#hasReport = caller.observe(this.node, headers)
    this.#status = status
    if (caller.retry?.statuses.includes(status) && this.call.isAgain('status', this)) {
      this.#drop()
      this.#end()
      this.call.sendElsewhere()
      return false
    }
    this.call.isAnswered = true
    return true
  }

  /** A part of the body has come. Returns whether it is to be passed on. */
  protected received(size: number): boolean {
    if (!this.#isDropped) return true
    this.#unwanted += size
    if (this.#unwanted > MOST_UNWANTED) this.#abort?.()
    return false
  }

  /** The response is complete. Returns whether to pass that on. */
  protected completed(trailers: ReportSource | null | undefined): boolean {
    if (this.#isDropped) return false
    if (!this.#hasReport && trailers !== null && trailers !== undefined && hasAny(trailers)) {
      this.call.caller.observe(this.node, trailers)
    }
    this.#end()
    return true
  }

  /** It is a connection of its own from now on. Returns whether to pass that on. */
  protected upgraded(status: number, headers: ReportSource, socket: Duplex): boolean {
    if (this.#isDropped) {
      socket.destroy()
      return false
    }
    this.#status = status
    this.call.caller.observe(this.node, headers)
    this.call.isAnswered = true
    // How long it stays open says nothing of how busy the node is.
    const latency = performance.now() - this.#start
    if (socket.destroyed) this.#end(latency)
    else socket.once('close', () => this.#end(latency))
    return true
  }

  /** It has failed. Returns whether to pass that on. */
  protected failed(error: Error): boolean {
    if (this.#isDropped) return false
    const { call } = this
    if (call.hasGivenUp) {
      this.#giveUp(error)
      return true
    }
    const kind = call.isOwnFault(error) ? undefined : failureOf(error, this.isSent)
    if (kind === undefined) {
      this.#abandon()
      return true
    }
    this.#fail(kind, error)
    if (!call.isAgain(kind, this)) return true
    this.#drop()
    call.sendElsewhere()
    return false
  }

  #drop(): void {
    this.#isDropped = true
  }

  #giveUp(reason: Error): void {
    const kind = failureOfAbort(reason)
    if (kind === undefined) this.#abandon()
    else this.#fail(kind, reason)
  }

  #abandon(): void {
    if (!this.#isOver) this.call.caller.counters.abandoned++
    this.#release({ neutral: true })
  }

  #end(latency?: number): void {
    if (this.call.caller.isFailure(this.#status)) this.#fail('status', undefined, latency)
    else this.#release(latency === undefined ? undefined : { latency })
  }

  #fail(kind: FailureKind, error?: Error, latency?: number): void {
    if (!this.#isOver) this.call.caller.counters.failures[kind]++
    this.#release({ ok: false, kind, ...(error && { error }), ...(latency !== undefined && { latency }) })
  }

  #release(outcome: Parameters<Lease<N>['release']>[0]): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#lease.release(outcome)
  }
}

function hasAny(trailers: ReportSource): boolean {
  if (Array.isArray(trailers)) return trailers.length > 0
  for (const _ in trailers) return true
  return false
}
