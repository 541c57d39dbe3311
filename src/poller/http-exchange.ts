import { reasonOf } from '../errors.js'
import type { Answer, Failure } from './answer.js'
import { GrowingBytes } from './growing-bytes.js'
import { Chunks } from './http-chunks.js'
import { type AnswerHeaders, type Framing, HttpError, type HttpHead, readHead } from './http-head.js'
import { readInTurn } from './large-bodies.js'

/** What is asked of a node over HTTP beside its address, and how answers are read. What the readers throw is an error. */
export interface HttpReading {
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Longest body, bytes. */
  readonly bodyLimit: number
  /** Longest line of a body, bytes; default any. */
  readonly lineLimit?: number
  /** What the last body that was read took, in bytes of one that is skipped. Default: the length of the body. */
  readonly work?: number
  /** Reads an answer of a status of 2xx by its headers; undefined where they say nothing, so that the body counts. */
  readHeaders?(headers: AnswerHeaders, at: number): Answer | undefined
  /**
   * Reads the body of an answer of status 200.
   * @param at when the answer began, ms
   */
  readBody(body: string, at: number): Answer
}

/** Longest head of an answer, bytes, with the interim answers (such as `103 Early Hints`) before it. */
const HEAD_LIMIT = 16_384

/** Most interim answers before an answer: servers send one or two. */
const MOST_INTERIM = 8

/**
 * Most pieces in which an answer may come, beside one for each 64 bytes: a read of one byte takes as long as one of some
 * thousands.
 */
const PIECES = 128
const BYTES_A_PIECE = 64

const BEGINNING = 'HTTP/1.'
const LF = 0x0a

/**
 * Reads the answer to one request. A node can make it take so many bytes and no more: 16 KiB of heads, the body's limit,
 * and what may stand around the chunks of the body.
 */
export class HttpExchange {
  /** Resolves in any case. */
  readonly answer: Promise<Answer>
  /** Whether the answer was no HTTP, or broke a limit, so that no more of it was read. */
  refused = false
  /** The failure, where the connection ended before anything of an answer came. */
  closed: Failure | undefined
  /** How long the connection may lie idle until the next request, ms; 0: it can't be used again. */
  keptFor = 0
  readonly #settle: (answer: Answer) => void
  readonly #reading: HttpReading
  readonly #now: () => number
  #settled = false
  #ended = false
  #at = -1
  // Bytes of those that were read.
  #heads = 0
  #interim = 0
  #head: HttpHead | undefined
  #chunks: Chunks | undefined
  #size = 0
  // Of all that was read.
  #pieces = 0
  #received = 0
  // Bytes since the last line break of the body.
  #line = 0
  // Of the head, and then of the body.
  readonly #bytes = new GrowingBytes()

  constructor(reading: HttpReading, now: () => number) {
    this.#reading = reading
    this.#now = now
    let settle: (answer: Answer) => void = () => {}
    this.answer = new Promise((resolve) => {
      settle = resolve
    })
    this.#settle = settle
  }

  /** Bytes of the body so far. */
  get size(): number {
    return this.#size
  }

  /** Whether all of the answer has come, or no more will be read. */
  get ended(): boolean {
    return this.#ended
  }

  /** Whether `answer` is known. Of an answer that was read by its headers the body is still to come. */
  get settled(): boolean {
    return this.#settled
  }

  settle(answer: Answer): void {
    if (this.#settled) return
    this.#settled = true
    this.#bytes.clear()
    this.#settle(answer)
  }

  /** Takes what came on the connection. Once it has ended, the connection is for the next request if it is to be kept. */
  take(bytes: Buffer): void {
    this.#pieces++
    this.#received += bytes.length
    try {
      if (this.#pieces > PIECES + this.#received / BYTES_A_PIECE)
        throw new HttpError('an answer in too many small pieces')
      if (this.#head === undefined) this.#takeHead(bytes)
      else this.#takeBody(this.#head.framing, bytes)
    } catch (error) {
      this.#refuse(reasonOf(error))
    }
  }

  /** The connection has ended. */
  lost(reason: string | undefined): void {
    if (this.#ended) return
    const isWhole = this.#head?.framing.kind === 'close' && reason === undefined
    this.keptFor = 0
    this.#ended = true
    if (isWhole) {
      this.#readBody()
      return
    }
    const begun = this.#head !== undefined || this.#heads > 0 || this.#bytes.length > 0
    const closed = begun ? 'closed before the end of the answer' : 'closed without an answer'
    const failure: Failure = { kind: 'exit', reason: reason ?? closed }
    if (!begun) this.closed = failure
    this.settle(failure)
  }

  #takeHead(bytes: Buffer): void {
    const before = this.#bytes.length
    // Where the head ends is looked for within its limit alone.
    this.#bytes.push(bytes.subarray(0, HEAD_LIMIT - this.#heads - before + 1))
    const beginning = this.#bytes.latin1(BEGINNING.length)
    if (!BEGINNING.startsWith(beginning)) throw new HttpError('the answer is not HTTP/1')
    const end = this.#bytes.indexOf('\r\n\r\n', before - 3)
    if (end < 0) {
      if (this.#heads + this.#bytes.length > HEAD_LIMIT)
        throw new HttpError(`a head of more than ${HEAD_LIMIT} bytes`)
      return
    }
    const head = readHead(this.#bytes.text(end))
    const rest = bytes.subarray(end + 4 - before)
    this.#bytes.clear()
    this.#heads += end + 4
    if (head.status >= 200) this.#begin(head, rest)
    else if (head.status < 102) throw new HttpError(`status ${head.status}, which was not asked for`)
    else if (++this.#interim > MOST_INTERIM) throw new HttpError(`more than ${MOST_INTERIM} interim answers`)
    else if (rest.length > 0) this.#takeHead(rest)
  }

  #begin(head: HttpHead, rest: Buffer): void {
    const { status, headers, framing } = head
    this.#head = head
    // The age is that at the start of the answer; a slow body makes the sample older.
    this.#at = this.#now()
    if (status < 300) this.#read(() => this.#reading.readHeaders?.(headers, this.#at))
    const { bodyLimit } = this.#reading
    if (status !== 200 && !this.#settled) {
      const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : ''
      this.settle({ kind: 'error', reason: `status ${status}${redirect}` })
    }
    if (framing.kind === 'length' && framing.length > bodyLimit) {
      throw new HttpError(`a body of ${framing.length} bytes: at most ${bodyLimit} are read`)
    }
    if (framing.kind === 'chunked') this.#chunks = new Chunks()
    this.#takeBody(framing, rest)
  }

  #takeBody(framing: Framing, bytes: Buffer): void {
    let end = bytes.length
    if (framing.kind === 'chunked') {
      const chunks = this.#chunks as Chunks
      end = chunks.read(bytes, (piece) => this.#keep(piece))
      if (chunks.done) this.#end(bytes.length - end)
      return
    }
    if (framing.kind === 'length') end = Math.min(end, framing.length - this.#size)
    this.#keep(bytes.subarray(0, end))
    if (framing.kind === 'length' && this.#size === framing.length) this.#end(bytes.length - end)
  }

  #keep(piece: Buffer): void {
    const { bodyLimit, lineLimit } = this.#reading
    this.#size += piece.length
    if (this.#size > bodyLimit) throw new HttpError(`a body of more than ${bodyLimit} bytes`)
    if (this.#settled) return
    if (lineLimit !== undefined) this.#checkLines(piece, lineLimit)
    this.#bytes.push(piece)
  }

  #checkLines(piece: Buffer, limit: number): void {
    const first = piece.indexOf(LF)
    if (this.#line + (first < 0 ? piece.length : first) > limit) {
      throw new HttpError(`a line of more than ${limit} bytes`)
    }
    this.#line = first < 0 ? this.#line + piece.length : piece.length - 1 - piece.lastIndexOf(LF)
  }

  // What follows an answer was not asked for.
  #end(beyond: number): void {
    this.#ended = true
    this.keptFor = beyond > 0 ? 0 : (this.#head?.keptFor ?? 0)
    this.#readBody()
  }

  #readBody(): void {
    if (this.#settled) return
    const { length } = this.#bytes
    readInTurn(length, () => {
      if (!this.#settled) this.#read(() => this.#reading.readBody(this.#bytes.text(), this.#at))
    })
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
  #refuse(reason: string): void {
    this.refused = true
    this.#ended = true
    this.keptFor = 0
    this.settle({ kind: 'error', reason })
  }
}
