import { HttpError } from './http-head.js'

/**
 * Most bytes of a chunked body that are none of its content (sizes, extensions, line ends and trailers), beside an eighth of
 * the content: each of them takes a hundred times as long as one of content. Servers write chunks of kilobytes.
 */
const FRAMING_LIMIT = 4_096
const FRAMING_SHARE = 1 / 8

/** Longest size of a chunk, hex digits. */
const LONGEST_SIZE = 8

const CR = 0x0d
const LF = 0x0a
const SEMICOLON = 0x3b
const SPACE = 0x20
const TAB = 0x09

type State =
  | 'size'
  | 'extension'
  | 'sizeEnd'
  | 'content'
  | 'contentCr'
  | 'contentLf'
  | 'line'
  | 'trailer'
  | 'end'
  | 'done'

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Takes the content out of a chunked body. */
export class Chunks {
  #state: State = 'size'
  #digits = 0
  #left = 0
  #framing = 0

  /** Whether all of it has come. */
  get done(): boolean {
    return this.#state === 'done'
  }

  /**
   * Reads on.
   * @param onContent takes content, in pieces
   * @returns where in the bytes the body ended; their length where it goes on
   * @throws HttpError, and what `onContent` throws
   */
  read(bytes: Buffer, onContent: (piece: Buffer) => void): number {
    let at = 0
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'content') {
        const piece = bytes.subarray(at, at + this.#left)
        at += piece.length
        this.#left -= piece.length
        this.#framing -= piece.length * FRAMING_SHARE
        if (this.#left === 0) this.#state = 'contentCr'
        onContent(piece)
        continue
      }
      if (++this.#framing > FRAMING_LIMIT) throw new HttpError('too many bytes around the chunks of its body')
      this.#take(bytes[at++] as number)
    }
    return at
  }

  #take(byte: number): void {
    switch (this.#state) {
      case 'size':
        this.#takeOfSize(byte)
        break
      case 'extension':
        if (byte === LF) throw bad()
        if (byte === CR) this.#state = 'sizeEnd'
        break
      case 'sizeEnd':
        expect(byte, LF)
        this.#state = this.#left === 0 ? 'line' : 'content'
        this.#digits = 0
        break
      case 'contentCr':
        expect(byte, CR)
        this.#state = 'contentLf'
        break
      case 'contentLf':
        expect(byte, LF)
        this.#state = 'size'
        break
      // The beginning of a trailer's line, or of the empty one that ends the body.
      case 'line':
        this.#state = byte === CR ? 'end' : 'trailer'
        break
      case 'trailer':
        if (byte === LF) this.#state = 'line'
        break
      case 'end':
        expect(byte, LF)
        this.#state = 'done'
        break
    }
  }

  #takeOfSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      if (++this.#digits > LONGEST_SIZE) throw bad()
      this.#left = this.#left * 16 + digit
      return
    }
    if (this.#digits === 0) throw bad()
    if (byte === CR) this.#state = 'sizeEnd'
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#state = 'extension'
    else throw bad()
  }
}

function bad(): HttpError {
  return new HttpError('a body whose chunks are not as HTTP has them')
}

function expect(byte: number, expected: number): void {
  if (byte !== expected) throw bad()
}
