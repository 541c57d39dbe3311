import { reasonOf } from '../errors.js'
import { type Dispatcher, errors } from '../undici.js'
import type { Answer, Failure } from './answer.js'

/** Headers of an answer, by their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What is asked of a node over HTTP beside its address, and how answers are read. What the readers throw is an error. */
export interface HttpReading {
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Longest body, bytes. */
  readonly bodyLimit: number
  /** Reads an answer of a status of 2xx by its headers; undefined where they say nothing, so that the body counts. */
  readHeaders?(headers: AnswerHeaders, at: number): Answer | undefined
  /**
   * Reads the body of an answer of status 200.
   * @param at when the answer began, ms
   */
  readBody(body: string, at: number): Answer
}

// A closed connection is the node's end (exit); a right connection with a wrong answer is its mistake (error).
function failureOf(error: unknown): Failure {
  // Of an answer that was cut off, undici's parser complains too, but with no bytes at fault.
  const unparsed = error instanceof errors.HTTPParserError && 'data' in error && error.data !== ''
  const wrong =
    unparsed ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    // Statuses below 200 that no request of ours asks for.
    (error instanceof errors.SocketError && /^bad (response|upgrade)$/.test(error.message))
  return { kind: wrong ? 'error' : 'exit', reason: reasonOf(error) }
}

/** One request and its answer, as undici tells of it. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  /** The failure, where the connection ended before anything of an answer came. */
  closed: Failure | undefined
  /** Whether all of the answer has come, or no more will. */
  ended = false
  readonly #settle: (answer: Answer) => void
  readonly #reading: HttpReading
  readonly #now: () => number
  #settled = false
  #at = -1
  #size = 0
  // Copied together: a body may come in chunks of a byte, and each would take a hundred times that.
  #body = Buffer.alloc(0)

  constructor(settle: (answer: Answer) => void, reading: HttpReading, now: () => number) {
    this.#settle = settle
    this.#reading = reading
    this.#now = now
  }

  settle(answer: Answer): void {
    if (this.#settled) return
    this.#settled = true
    this.#body = Buffer.alloc(0)
    this.#settle(answer)
  }

  // Present, so that undici takes this for a handler of its current kind.
  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200) return
    // The age is that at the start of the answer; a slow body makes the sample older.
    this.#at = this.#now()
    if (status < 300) this.#read(() => this.#reading.readHeaders?.(headers, this.#at))
    const { bodyLimit } = this.#reading
    if (status !== 200 && !this.#settled) {
      this.#refuse(
        controller,
        `status ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}`,
      )
    } else if (Number(headers['content-length']) > bodyLimit) {
      this.#refuse(controller, `a body of ${headers['content-length']} bytes: at most ${bodyLimit} are read`)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { bodyLimit } = this.#reading
    this.#size += chunk.length
    if (this.#size > bodyLimit) this.#refuse(controller, `a body of more than ${bodyLimit} bytes`)
    else if (!this.#settled) this.#keep(chunk)
  }

  onResponseEnd(): void {
    this.ended = true
    if (!this.#settled)
      this.#read(() => this.#reading.readBody(this.#body.toString('utf8', 0, this.#size), this.#at))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.ended = true
    const failure = failureOf(error)
    if (this.#at < 0 && failure.kind === 'exit') this.closed = failure
    this.settle(failure)
  }

  #keep(chunk: Buffer): void {
    if (this.#size > this.#body.length) {
      const grown = Buffer.alloc(Math.max(1_024, 2 * this.#size))
      this.#body.copy(grown)
      this.#body = grown
    }
    chunk.copy(this.#body, this.#size - chunk.length)
  }

  #read(read: () => Answer | undefined): void {
    try {
      const answer = read()
      if (answer !== undefined) this.settle(answer)
    } catch (error) {
      this.settle({ kind: 'error', reason: reasonOf(error) })
    }
  }

  // What is left of such an answer is not worth reading.
  #refuse(controller: Dispatcher.DispatchController, reason: string): void {
    this.settle({ kind: 'error', reason })
    controller.abort(new Error(reason))
  }
}
