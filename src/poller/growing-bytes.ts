/** Bytes that come in pieces, copied together: a list of pieces of one byte each would take a hundred times as much. */
export class GrowingBytes {
  /** Bytes so far. */
  length = 0
  #bytes: Buffer | undefined

  push(piece: Buffer): void {
    const length = this.length + piece.length
    // Most of what is read comes in one piece.
    if (this.#bytes === undefined) this.#bytes = Buffer.from(piece)
    else {
      if (length > this.#bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(1_024, 2 * length))
        this.#bytes.copy(grown, 0, 0, this.length)
        this.#bytes = grown
      }
      piece.copy(this.#bytes, this.length)
    }
    this.length = length
  }

  /** Where these bytes are, not before `from`; -1: nowhere. */
  indexOf(bytes: string, from: number): number {
    return this.#bytes?.subarray(0, this.length).indexOf(bytes, Math.max(0, from), 'latin1') ?? -1
  }

  /** As Latin-1, up to `end`. */
  latin1(end: number): string {
    return this.#bytes?.toString('latin1', 0, Math.min(end, this.length)) ?? ''
  }

  /** As UTF-8, up to `end`. */
  text(end = this.length): string {
    return this.#bytes?.toString('utf8', 0, end) ?? ''
  }

  clear(): void {
    this.#bytes = undefined
    this.length = 0
  }
}
