import { BadReportError } from '../errors.js'
import { decimal } from './values.js'

/** One sample of a Prometheus page. */
export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** May be NaN, Infinity or -Infinity. */
  readonly value: number
  /** When it was sampled, by the exporter's clock, ms since 1970; undefined where the page does not say. */
  readonly timestamp: number | undefined
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
])

// The furthest that a Date goes, ms.
const MAX_TIME = 8.64e15

const LABEL = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Most characters of wanted lines on a page: to read one takes fifty times as long as to skip one. 1,000 cores have some
 * 500 KiB.
 */
const MOST_READ = 2 ** 20

/** What reading a page took. */
export interface PageCost {
  /** Lines, of whatever kind. */
  lines: number
  /** Characters of the wanted lines. */
  read: number
}

const HASH = 0x23
const LF = 0x0a
const BRACE = 0x7b
const SPACE = 0x20
const TAB = 0x09

/** One line of a page, read from left to right. */
class Line {
  readonly #text: string
  readonly #name: string
  #at: number

  constructor(text: string, name: string) {
    this.#text = text
    this.#name = name
    this.#at = name.length
  }

  #refuse(expected: string): never {
    throw new BadReportError(this.#name, this.#text, expected)
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at++
  }

  /** Steps over a character, and blanks before it, if it is there. */
  #takes(character: string): boolean {
    this.#skipBlanks()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  /** What stands before the next blank; empty at the end. */
  word(): string {
    this.#skipBlanks()
    const start = this.#at
    while (this.#at < this.#text.length && this.#text[this.#at] !== ' ' && this.#text[this.#at] !== '\t')
      this.#at++
    return this.#text.slice(start, this.#at)
  }

  labels(): Record<string, string> {
    const labels: [string, string][] = []
    if (!this.#takes('{')) return {}
    while (!this.#takes('}')) {
      const equals = this.#text.indexOf('=', this.#at)
      const name = this.#text.slice(this.#at, Math.max(equals, this.#at)).trim()
      if (!LABEL.test(name)) this.#refuse('labels such as {cpu="0"}')
      this.#at = equals + 1
      labels.push([name, this.#quoted()])
      if (this.#takes(',')) continue
      if (this.#takes('}')) break
      this.#refuse('a comma or } after each label')
    }
    return Object.fromEntries(labels)
  }

  #quoted(): string {
    if (!this.#takes('"')) this.#refuse('a quoted value for each label')
    const start = this.#at
    for (let end = this.#text.indexOf('"', start); end >= 0; end = this.#text.indexOf('"', end + 1)) {
      let escapes = end
      while (escapes > start && this.#text[escapes - 1] === '\\') escapes--
      // Each backslash belongs to one before it, but for the last of an odd number: that one belongs to the quote.
      if ((end - escapes) % 2 === 1) continue
      this.#at = end + 1
      return unescaped(this.#text.slice(start, end))
    }
    return this.#refuse('a quote at the end of each label')
  }

  value(): number {
    const word = this.word()
    return decimal(word) ?? SPECIAL.get(word.toLowerCase()) ?? this.#refuse('a number')
  }

  /** @param unit how many ms its unit is */
  timestamp(unit: number): number | undefined {
    const word = this.word()
    // What follows a # is an exemplar.
    if (word === '' || word.startsWith('#')) return undefined
    const timestamp = (decimal(word) ?? Number.NaN) * unit
    return Math.abs(timestamp) <= MAX_TIME
      ? timestamp
      : this.#refuse('a timestamp after the value, if anything')
  }
}

// What is no escape stays as it is.
function unescaped(value: string): string {
  if (!value.includes('\\')) return value
  return value.replace(/\\([\\"n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
}

/**
 * Reads samples off a page in Prometheus' text format or in OpenMetrics: those of the wanted names, in their order. Other
 * lines are not looked into, whatever is in them, since a page has thousands; exemplars are skipped, and so are series
 * whose name is quoted, which exporters write only for who asks for them. Lines may end in CR LF.
 * @param wanted names of series: of a histogram, for example, with `_bucket`
 * @param cost is counted up
 * @throws BadReportError while it is iterated: for a wanted line that is none, or that has no line end, as where the page
 * was cut short; and for more than 1 MiB of wanted lines
 */
export function* readPrometheus(
  text: string,
  wanted: ReadonlySet<string> | ((name: string) => boolean),
  cost: PageCost = { lines: 0, read: 0 },
): Generator<Series, void, undefined> {
  const isWanted = typeof wanted === 'function' ? wanted : (name: string): boolean => wanted.has(name)
  // Thousands of names that are cut out to be looked up take five times as long as looking for a few where they begin.
  const names = typeof wanted === 'function' ? [''] : [...wanted]
  // OpenMetrics has seconds, and its pages end so; Prometheus' own format has milliseconds.
  const unit = /# EOF\r?\n?$/.test(text.slice(-8)) ? 1000 : 1
  let next = 0
  for (let start = 0; start < text.length; start = next) {
    cost.lines++
    if (text.charCodeAt(start) === LF) {
      next = start + 1
      continue
    }
    const feed = text.indexOf('\n', start)
    next = feed < 0 ? text.length : feed + 1
    while (isBlank(text.charCodeAt(start))) start++
    if (text.charCodeAt(start) === HASH || !startsWithAny(text, names, start)) continue
    const name = text.slice(start, nameEnd(text, start, next))
    if (name === '' || !isWanted(name)) continue

    if (feed < 0) throw new BadReportError(name, text.slice(start), 'a line end after the last line')
    const content = text.slice(start, text[feed - 1] === '\r' ? feed - 1 : feed)
    cost.read += content.length
    if (cost.read > MOST_READ)
      throw new BadReportError(name, cost.read, `at most ${MOST_READ} characters in lines of it`)
    const line = new Line(content, name)
    const labels = line.labels()
    const value = line.value()
    yield { name, labels, value, timestamp: line.timestamp(unit) }
  }
}

function startsWithAny(text: string, names: readonly string[], start: number): boolean {
  for (const name of names) if (text.startsWith(name, start)) return true
  return false
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function nameEnd(text: string, start: number, lineEnd: number): number {
  let end = start
  while (end < lineEnd && text.charCodeAt(end) !== BRACE && text.charCodeAt(end) > SPACE) end++
  return end
}
