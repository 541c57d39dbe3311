import { LONGEST_LINE, timeOfLine } from './line.js'

/** Bad lines that are kept, to be shown. */
const MOST_KEPT = 5

/** A line that could not be used. */
export interface BadLine {
  /** From 1. */
  readonly line: number
  readonly why: string
}

/** What became of the lines of a log: `lines = used + blank + bad`. */
export interface LineCounts {
  lines: number
  /** Lines that gave a request. */
  used: number
  blank: number
  bad: number
}

/**
 * Reads when requests came off an access log that comes in pieces. Whatever they hold, it throws nothing: a line that
 * can't be read is counted, and the others are used.
 */
export class AccessLog {
  readonly counts: LineCounts = { lines: 0, used: 0, blank: 0, bad: 0 }
  /** The first bad lines. */
  readonly bad: BadLine[] = []
  /** Lines of the earliest and of the latest request. */
  earliestLine = 0
  latestLine = 0
  readonly #field: string | undefined
  #times = new Float64Array(1024)
  #earliest = Number.POSITIVE_INFINITY
  #latest = Number.NEGATIVE_INFINITY
  // What has come of a line that has not ended; of one that is too long no more than tells that it is.
  #rest = ''
  #isInLine = false

  /** @param field of JSON lines: the one with the time; else the usual ones are looked for */
  constructor(field?: string) {
    this.#field = field
  }

  /** When requests came, ms since 1970, in the order of the log. */
  get times(): Float64Array {
    return this.#times.subarray(0, this.counts.used)
  }

  /** Reads on. */
  write(text: string): void {
    let from = 0
    for (;;) {
      const end = text.indexOf('\n', from)
      if (end === -1) break
      this.#add(text.slice(from, end))
      this.#endLine()
      from = end + 1
    }
    if (from < text.length) this.#add(text.slice(from))
  }

  /**
   * The log breaks off here: what has come of a line, or else the line that would be next, is bad.
   * @param why words for what is wrong
   */
  breakOff(why: string): void {
    this.#rest = ''
    this.#isInLine = false
    this.counts.lines++
    this.#leaveOut(why)
  }

  /** There is no more: a last line without a line end counts too. */
  end(): void {
    if (this.#isInLine) this.#endLine()
  }

  #add(part: string): void {
    this.#isInLine = true
    const room = LONGEST_LINE + 2 - this.#rest.length
    this.#rest += part.length > room ? part.slice(0, room) : part
  }

  #endLine(): void {
    let line = this.#rest
    this.#rest = ''
    this.#isInLine = false
    const { counts } = this
    counts.lines++
    if (line.endsWith('\r')) line = line.slice(0, -1)
    if (counts.lines === 1 && line.startsWith('\ufeff')) line = line.slice(1)
    if (line.trim() === '') {
      counts.blank++
      return
    }
    const time = timeOfLine(line, this.#field)
    if ('at' in time) {
      this.#use(time.at)
      return
    }
    this.#leaveOut(time.wrong)
  }

  #leaveOut(why: string): void {
    const { counts } = this
    counts.bad++
    if (this.bad.length < MOST_KEPT) this.bad.push({ line: counts.lines, why })
  }

  #use(at: number): void {
    const { counts } = this
    if (counts.used === this.#times.length) {
      const grown = new Float64Array(2 * this.#times.length)
      grown.set(this.#times)
      this.#times = grown
    }
    this.#times[counts.used++] = at
    if (at < this.#earliest) {
      this.#earliest = at
      this.earliestLine = counts.lines
    }
    if (at > this.#latest) {
      this.#latest = at
      this.latestLine = counts.lines
    }
  }
}
