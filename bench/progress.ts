/** Tells how far the bench is: one line that is written over on a terminal, a few plain lines elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  #lastTenth = -1

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  step(what: string, done: number, all: number): void {
    if (this.#stream.isTTY) {
      const width = 30
      const full = Math.round((done / all) * width)
      this.#stream.write(`\r\x1b[K${what} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${done}/${all}`)
      if (done >= all) this.clear()
      return
    }
    const tenth = Math.floor((done / all) * 5)
    if (tenth === this.#lastTenth && done < all) return
    this.#lastTenth = done >= all ? -1 : tenth
    this.#stream.write(`${what}: ${done} of ${all}\n`)
  }

  note(line: string): void {
    this.clear()
    this.#stream.write(`${line}\n`)
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K')
  }
}
