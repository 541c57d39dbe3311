import type { Duplex } from 'node:stream'
import { Dispatcher } from '../../undici.js'
import { hasController } from './handlers.js'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2]
type RawHeaders = Buffer[]

/**
 * The handler to give to a dispatcher. undici 8 has dropped undici's first handler interface, which undici 7's own `request`
 * and `stream` use: a dispatcher of another copy of undici gets a handler that has both interfaces.
 */
export function handlerFor(dispatcher: Dispatcher, handler: Handler): Handler {
  return dispatcher instanceof Dispatcher || hasController(handler) ? handler : new Bridge(handler)
}

/** A handler of the first interface that also has the interface with controllers. */
class Bridge implements Handler {
  readonly #handler: Handler

  constructor(handler: Handler) {
    this.#handler = handler
  }

  onConnect(...given: Parameters<NonNullable<Handler['onConnect']>>): void {
    this.#handler.onConnect?.(...given)
  }

  onHeaders(...given: Parameters<NonNullable<Handler['onHeaders']>>): boolean {
    return this.#handler.onHeaders?.(...given) as boolean
  }

  onUpgrade(...given: Parameters<NonNullable<Handler['onUpgrade']>>): void {
    this.#handler.onUpgrade?.(...given)
  }

  onData(chunk: Buffer): boolean {
    return this.#handler.onData?.(chunk) as boolean
  }

  onComplete(trailers: string[] | null): void {
    this.#handler.onComplete?.(trailers)
  }

  onError(error: Error): void {
    this.#handler.onError?.(error)
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onBodySent(...given: Parameters<NonNullable<Handler['onBodySent']>>): void {
    this.#handler.onBodySent?.(...given)
  }

  onRequestSent(): void {
    const handler = this.#handler as { onRequestSent?: () => void }
    handler.onRequestSent?.()
  }

  onRequestStart(controller: Controller, context: unknown): void {
    // The type does not have the context, which redirects have.
    const handler = this.#handler as {
      onConnect?: (abort: (reason?: Error) => void, context: unknown) => void
    }
    handler.onConnect?.((reason) => controller.abort(reason as Error), context)
  }

  onRequestUpgrade(controller: Controller, status: number, headers: Headers, socket: Duplex): void {
    this.#handler.onUpgrade?.(status, rawHeaders(controller.rawHeaders ?? headers ?? {}), socket)
  }

  onResponseStart(controller: Controller, status: number, headers: Headers, text?: string): void {
    const raw = rawHeaders(controller.rawHeaders ?? headers ?? {})
    const resume = () => controller.resume()
    if (this.#handler.onHeaders?.(status, raw, resume, text ?? '') === false) controller.pause()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#handler.onData?.(chunk) === false) controller.pause()
  }

  onResponseEnd(controller: Controller, trailers: Headers): void {
    const raw = rawHeaders(controller.rawTrailers ?? trailers ?? {})
    // The type says strings; undici itself gives buffers.
    this.#handler.onComplete?.(raw as unknown as string[])
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#handler.onError?.(error)
  }
}

/** Names and values in turn. Headers that came over HTTP/2 are an object, whose raw form is that object too. */
function rawHeaders(headers: Headers | NonNullable<Controller['rawHeaders']>): RawHeaders {
  if (Array.isArray(headers)) return headers as RawHeaders
  const raw: RawHeaders = []
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) {
      if (value !== undefined) raw.push(Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1'))
    }
  }
  return raw
}
