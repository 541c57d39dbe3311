import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Lease, NodeLike } from '../../index.js'
import { Attempt } from './attempt.js'
import { Call } from './call.js'
import type { Caller } from './caller.js'

type Handler = Dispatcher.DispatchHandler
type RawHeaders = Parameters<NonNullable<Handler['onHeaders']>>[1]
type RawTrailers = Parameters<NonNullable<Handler['onComplete']>>[0]

/**
 * A request whose handler is of undici's first interface: `onConnect`, `onHeaders` with names and values in turn, and so
 * on. undici 7's own `request`, `stream` and `fetch`, and the `fetch` of Node.js to version 24, have these.
 */
export class LegacyCall<N extends NodeLike> extends Call<N> {
  readonly handler: Handler
  /** What the caller was given, and what is filled in as undici says more: the history of redirects. */
  readonly context: object = {}

  constructor(caller: Caller<N>, request: Dispatcher.DispatchOptions, handler: Handler) {
    super(caller, request)
    this.handler = handler
  }

  protected override start(): void {
    // The type does not have the context, which redirects have.
    const onConnect = this.handler.onConnect as
      | ((abort: (reason?: Error) => void, context?: object) => void)
      | undefined
    onConnect?.call(this.handler, (reason) => this.abort(reason), this.context)
  }

  protected override tell(error: Error): void {
    this.handler.onError?.(error)
  }

  protected override attemptAt(lease: Lease<N>): Attempt<N> {
    return new LegacyAttempt(this, lease)
  }
}

class LegacyAttempt<N extends NodeLike> extends Attempt<N> implements Handler {
  readonly #handler: Handler
  readonly #context: object

  constructor(call: LegacyCall<N>, lease: Lease<N>) {
    super(call, lease)
    this.#handler = call.handler
    this.#context = call.context
  }

  onConnect(abort: (reason?: Error) => void, context?: object): void {
    if (!this.isDropped) Object.assign(this.#context, context)
    this.connected(abort)
  }

  onResponseStarted(): void {
    if (this.isDropped) return
    this.isAnswering = true
    try {
      this.#handler.onResponseStarted?.()
    } catch (error) {
      this.#threw(error)
    }
  }

  onHeaders(status: number, headers: RawHeaders, resume: () => void, text: string): boolean {
    if (!this.responded(status, headers)) return true
    try {
      return this.#handler.onHeaders?.(status, headers, resume, text) as boolean
    } catch (error) {
      return this.#threw(error)
    }
  }

  onData(chunk: Buffer): boolean {
    if (!this.received(chunk.length)) return true
    try {
      return this.#handler.onData?.(chunk) as boolean
    } catch (error) {
      return this.#threw(error)
    }
  }

  onComplete(trailers: RawTrailers): void {
    if (!this.completed(trailers)) return
    try {
      this.#handler.onComplete?.(trailers)
    } catch (error) {
      this.#threw(error)
    }
  }

  onUpgrade(status: number, headers: Buffer[] | string[] | null, socket: Duplex): void {
    if (!this.upgraded(status, headers ?? [], socket)) return
    try {
      this.#handler.onUpgrade?.(status, headers, socket)
    } catch (error) {
      this.#threw(error)
    }
  }

  onError(error: Error): void {
    if (this.failed(error)) this.call.fail(error)
  }

  onBodySent(size: number, total: number): void {
    if (this.isDropped) return
    try {
      this.#handler.onBodySent?.(size, total)
    } catch (error) {
      this.#threw(error)
    }
  }

  onRequestSent(): void {
    if (this.isDropped) return
    try {
      const handler = this.#handler as { onRequestSent?: () => void }
      handler.onRequestSent?.()
    } catch (error) {
      this.#threw(error)
    }
  }

  // undici ends the request with it.
  #threw(error: unknown): never {
    this.call.threw(error)
    throw error
  }
}
