import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Lease, NodeLike } from '../../index.js'
import { Attempt } from './attempt.js'
import { Call } from './call.js'
import type { Caller } from './caller.js'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2]

/**
 * A request whose handler is of undici's interface since version 7: `onRequestStart` with a controller, `onResponseStart`
 * with headers by name, and so on. Interceptors have these, and all of undici 8.
 */
export class ControllerCall<N extends NodeLike> extends Call<N> {
  readonly handler: Handler
  readonly controller: CallController<N>

  constructor(caller: Caller<N>, request: Dispatcher.DispatchOptions, handler: Handler) {
    super(caller, request)
    this.handler = handler
    this.controller = new CallController(this)
  }

  protected override start(): void {
    this.handler.onRequestStart?.(this.controller, this.controller.context)
  }

  protected override tell(error: Error): void {
    this.handler.onResponseError?.(this.controller, error)
  }

  protected override attemptAt(lease: Lease<N>): Attempt<N> {
    return new ControllerAttempt(this, lease)
  }
}

/** One controller for the caller, whichever connection the request has. */
class CallController<N extends NodeLike> implements Controller {
  /** What the caller was given, and what is filled in as undici says more: the history of redirects. */
  readonly context: object = {}
  readonly #call: Call<N>
  #target: Controller | undefined
  #isPaused = false

  constructor(call: Call<N>) {
    this.#call = call
  }

  set target(target: Controller) {
    this.#target = target
    if (this.#isPaused) target.pause()
  }

  get aborted(): boolean {
    return this.#call.hasGivenUp
  }

  get reason(): Error | null {
    return this.#call.reason
  }

  get paused(): boolean {
    return this.#isPaused
  }

  get rawHeaders(): NonNullable<Controller['rawHeaders']> | null {
    return this.#target?.rawHeaders ?? null
  }

  set rawHeaders(headers: NonNullable<Controller['rawHeaders']> | null) {
    if (this.#target !== undefined) this.#target.rawHeaders = headers
  }

  get rawTrailers(): NonNullable<Controller['rawTrailers']> | null {
    return this.#target?.rawTrailers ?? null
  }

  set rawTrailers(trailers: NonNullable<Controller['rawTrailers']> | null) {
    if (this.#target !== undefined) this.#target.rawTrailers = trailers
  }

  abort(reason: Error): void {
    this.#call.abort(reason)
  }

  pause(): void {
    this.#isPaused = true
    this.#target?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#target?.resume()
  }
}

class ControllerAttempt<N extends NodeLike> extends Attempt<N> implements Handler {
  readonly #handler: Handler
  readonly #controller: CallController<N>

  constructor(call: ControllerCall<N>, lease: Lease<N>) {
    super(call, lease)
    this.#handler = call.handler
    this.#controller = call.controller
  }

  onRequestStart(controller: Controller, context: unknown): void {
    if (!this.isDropped) {
      this.#controller.target = controller
      Object.assign(this.#controller.context, context)
    }
    this.connected((reason) => controller.abort(reason as Error))
  }

  onRequestUpgrade(_controller: Controller, status: number, headers: Headers, socket: Duplex): void {
    if (!this.upgraded(status, headers, socket)) return
    try {
      this.#handler.onRequestUpgrade?.(this.#controller, status, headers, socket)
    } catch (error) {
      this.#threw(error)
    }
  }

  onResponseStart(controller: Controller, status: number, headers: Headers, text?: string): void {
    // Raw headers are the same once more: whoever reads these is to find no report either.
    if (!this.responded(status, controller.rawHeaders ?? headers)) return
    this.call.caller.strip(headers)
    try {
      this.#handler.onResponseStart?.(this.#controller, status, headers, text)
    } catch (error) {
      this.#threw(error)
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (!this.received(chunk.length)) return
    try {
      this.#handler.onResponseData?.(this.#controller, chunk)
    } catch (error) {
      this.#threw(error)
    }
  }

  onResponseEnd(_controller: Controller, trailers: Headers): void {
    if (!this.completed(trailers)) return
    try {
      this.#handler.onResponseEnd?.(this.#controller, trailers)
    } catch (error) {
      this.#threw(error)
    }
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.failed(error)) this.call.fail(error)
  }

  // undici ends the request with it.
  #threw(error: unknown): never {
    this.call.threw(error)
    throw error
  }
}
