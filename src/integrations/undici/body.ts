import { Readable } from 'node:stream'
import type { Dispatcher } from '../../undici.js'

type Body = Dispatcher.DispatchOptions['body']
type Source = Iterable<unknown> | AsyncIterable<unknown>

/** Whether a body is there to be sent again: what is read while it is sent is not. */
export function isKept(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string') return true
  return (
    body instanceof Uint8Array ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof Blob
  )
}

/** Whether something of a body has been read, so that the whole can't be sent any more. */
export function isBegun(body: unknown): boolean {
  return body instanceof Readable && Readable.isDisturbed(body)
}

/** Whether an error is what a stream that is a body broke off with. */
export function isOfStream(body: unknown, error: Error): boolean {
  return typeof body === 'object' && body !== null && 'errored' in body && body.errored === error
}

/**
 * A request whose body tells what it throws: generators and web streams keep no error, as streams of Node.js do. The same
 * request where its body is none of these.
 */
export function listened(
  request: Dispatcher.DispatchOptions,
  onThrow: (error: unknown) => void,
): Dispatcher.DispatchOptions {
  const { body } = request
  if (typeof body !== 'object' || body === null || !isSource(body)) return request
  return { ...request, body: passedOn(body, onThrow) as unknown as Body }
}

function isSource(body: object): body is Source {
  // What undici sends by other means is iterable too.
  if (ArrayBuffer.isView(body) || 'pipe' in body || Reflect.get(body, Symbol.toStringTag) === 'FormData')
    return false
  return Symbol.asyncIterator in body || Symbol.iterator in body
}

async function* passedOn(body: Source, onThrow: (error: unknown) => void): AsyncGenerator<unknown> {
  try {
    yield* body
  } catch (error) {
    onThrow(error)
    throw error
  }
}
