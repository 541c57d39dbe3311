import { type Allowance, Budget } from './budget.js'

/** What one connection may send. */
export interface FrameLimits {
  readonly frames: Allowance
  readonly bytes: Allowance
  /** Bytes before the first frame: a client's preface has 24. */
  readonly preface: number
}

/** The head of a frame, bytes: three of its length, then type, flags and stream. */
const HEAD = 9

/**
 * Counts the frames and bytes of HTTP/2 that one side sends, of whatever kind. The library below answers or skips most kinds
 * by itself and tells nobody, so a peer could keep it busy without end. Frames are counted by their heads alone.
 */
export class FrameMeter {
  readonly #frames: Budget
  readonly #bytes: Budget
  // Bytes of the preface or a payload that are still to come.
  #skip: number
  // Bytes of the head that have come, and the length as far as they say it.
  #head = 0
  #length = 0
  readonly #onFrame: ((now: number) => boolean) | undefined

  /** @param onFrame called for each frame; false: it is one too many, for a reason beyond this connection */
  constructor({ frames, bytes, preface }: FrameLimits, now: number, onFrame?: (now: number) => boolean) {
    this.#frames = new Budget(frames, now)
    this.#bytes = new Budget(bytes, now)
    this.#skip = preface
    this.#onFrame = onFrame
  }

  /** Takes what came; what is wrong with it where it is too much. */
  take(chunk: Uint8Array, now: number): string | undefined {
    if (!this.#bytes.take(chunk.length, now)) return 'more bytes of HTTP/2 than reports need'
    let at = 0
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at)
        this.#skip -= skipped
        at += skipped
        continue
      }
      if (this.#head < 3) this.#length = this.#length * 256 + (chunk[at] as number)
      this.#head++
      at++
      if (this.#head < HEAD) continue
      this.#skip = this.#length
      this.#head = 0
      this.#length = 0
      if (!this.#frames.take(1, now) || this.#onFrame?.(now) === false) {
        return 'more frames of HTTP/2 than reports need'
      }
    }
    return undefined
  }
}
