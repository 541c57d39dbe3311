import type { Duplex } from 'node:stream'
import { causeOf } from '../../balancer/failure-causes.js'
import type { Lease, NodeLike, Outcome, ReportSource } from '../../index.js'
import type { Call } from './call.js'
import { type FailureKind, failureOf, failureOfAbort, isOfConnecting } from './failures.js'

/** Bytes that are read of a response that nobody wants, so that its connection may be used again. */
const MOST_UNWANTED = 64 * 1024

/**
 * One time that a request is sent to a node: it counts as in flight there until undici says that it is over. Each handler
 * interface of undici has its own, which calls what is here, and passes on what this says is to be passed on.
 */
export abstract class Attempt<N extends NodeLike> {
  readonly node: N
  /** Whether it counts as in flight no more. */
  isOver = false
  /** Whether nobody wants to hear of it any more: another node is asked, or the caller gave up. */
  protected isDropped = false
  protected readonly call: Call<N>
  // Plain fields: one of these is made for each request.
  private readonly lease: Lease<N>
  private readonly start: number
  private cut: ((reason?: Error) => void) | undefined = undefined
  private status = 0
  private hasReport = false
  // Whether anything of a response has come.
  protected isAnswering = false
  private unwanted = 0

  constructor(call: Call<N>, lease: Lease<N>) {
    this.call = call
    this.lease = lease
    this.node = lease.node
    this.start = call.isUpgrade ? performance.now() : 0
  }

  /** Whether it has a connection. */
  get isSent(): boolean {
    return this.cut !== undefined
  }

  /** Ends it, as the caller wants. Nothing is passed on where it has no connection yet. */
  abort(reason: Error): void {
    if (this.cut !== undefined) {
      this.cut(reason)
      return
    }
    this.isDropped = true
    this.giveUp(reason)
  }

  /** Takes in that it never got to undici. */
  unsent(): void {
    this.isDropped = true
    this.abandon()
  }

  /** It has a connection. */
  protected connected(abort: (reason?: Error) => void): void {
    this.cut = abort
    if (this.isDropped) abort()
  }

  /** Headers have come. Returns whether they are to be passed on. */
  protected responded(status: number, headers: ReportSource): boolean {
    if (this.isDropped) return false
    this.isAnswering = true
    if (status < 200) return true
    const { caller } = this.call
    this.hasReport = caller.observe(this.node, headers)
    this.status = status
    if (caller.retry?.statuses.includes(status) && this.call.isAgain('status', this)) {
      this.isDropped = true
      this.finish()
      this.call.sendElsewhere()
      return false
    }
    this.call.isAnswered = true
    return true
  }

  /** A part of the body has come. Returns whether it is to be passed on. */
  protected received(size: number): boolean {
    if (!this.isDropped) return true
    this.unwanted += size
    if (this.unwanted > MOST_UNWANTED) this.cut?.()
    return false
  }

  /** The response is complete. Returns whether to pass that on. */
  protected completed(trailers: ReportSource | null | undefined): boolean {
    if (this.isDropped) return false
    if (!this.hasReport && trailers !== null && trailers !== undefined && hasAny(trailers)) {
      this.call.caller.observe(this.node, trailers)
    }
    this.finish()
    return true
  }

  /** It is a connection of its own from now on. Returns whether to pass that on. */
  protected upgraded(status: number, headers: ReportSource, socket: Duplex): boolean {
    if (this.isDropped) {
      socket.destroy()
      return false
    }
    this.status = status
    this.call.caller.observe(this.node, headers)
    this.call.isAnswered = true
    // How long it stays open says nothing of how busy the node is.
    const latency = performance.now() - this.start
    if (socket.destroyed) this.finish(latency)
    else socket.once('close', () => this.finish(latency))
    return true
  }

  /** It has failed. Returns whether to pass that on. */
  protected failed(error: Error): boolean {
    if (this.isDropped) return false
    const { call } = this
    if (call.hasGivenUp) {
      this.giveUp(error)
      return true
    }
    // undici connects anew for a request that a server did not look at, as where an HTTP/2 server goes away.
    const hasConnection = this.isSent && !isOfConnecting(error)
    const kind = call.isOwnFault(error) ? undefined : failureOf(error, hasConnection)
    if (kind === undefined) {
      this.abandon()
      return true
    }
    const cause = hasConnection && !this.isAnswering ? causeOf(error, true) : undefined
    const isBlameless = cause === 'stale' || cause === 'unprocessed'
    if (isBlameless) this.forgive()
    else this.blame(kind, error)
    if (!call.isAgain(kind, this, isBlameless ? cause : undefined)) return true
    this.isDropped = true
    call.sendElsewhere()
    return false
  }

  /** Its node can't be sent anything. Returns whether to tell the caller: not where another node is tried. */
  misplaced(error: Error): boolean {
    return this.failed(error)
  }

  private giveUp(reason: Error): void {
    const kind = failureOfAbort(reason)
    if (kind === undefined) this.abandon()
    else this.blame(kind, reason)
  }

  private abandon(): void {
    if (!this.isOver) this.call.caller.counters.abandoned++
    this.release({ neutral: true })
  }

  private forgive(): void {
    if (!this.isOver) this.call.caller.counters.unblamed++
    this.release({ neutral: true })
  }

  private finish(latency?: number): void {
    if (this.call.caller.isFailure(this.status)) this.blame('status', undefined, latency)
    else this.release(latency === undefined ? undefined : { latency })
  }

  private blame(kind: FailureKind, error?: Error, latency?: number): void {
    if (!this.isOver) this.call.caller.counters.failures[kind]++
    this.release({ ok: false, kind, ...(error && { error }), ...(latency !== undefined && { latency }) })
  }

  private release(outcome: Outcome | undefined): void {
    if (this.isOver) return
    this.isOver = true
    this.lease.release(outcome)
  }
}

function hasAny(trailers: ReportSource): boolean {
  if (Array.isArray(trailers)) return trailers.length > 0
  for (const _ in trailers) return true
  return false
}
