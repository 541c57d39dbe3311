import type { Generator } from '../../dist/engine/portable/generator.js'

/** A little more than the readers take. */
export const MAX_INPUT = 66_000

// What breaks readers of numbers, of lengths and of text.
const WORDS = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '0.5',
    '1e309',
    '1e-400',
    '1e12',
    '1000000000001',
    'NaN',
    'Infinity',
    '0x10',
    '٣',
  ],
  ...[
    'null',
    'true',
    '""',
    '{}',
    '[]',
    '__proto__',
    'constructor',
    '\0',
    '\r\n',
    '\n',
    '\ufeff',
    '😀',
    '\ud800',
  ],
  ...['é', ' ', '\t', ',', '=', ':', '#', '%', '"', '\\', '9'.repeat(25)],
].map((word) => Buffer.from(word))
const BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x08, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x42, 0xc3]

/** How much of an input is looked through for names and numbers, bytes. */
const WINDOW = 1024

/** Makes inputs out of others, by chance and by a target's own words. */
export class Mutator {
  readonly #generator: Generator
  readonly #words: readonly Uint8Array[]

  constructor(generator: Generator, words: readonly string[]) {
    this.#generator = generator
    this.#words = [...WORDS, ...words.map((word) => Buffer.from(word))]
  }

  /** One to eight changes, mostly few. */
  mutate(corpus: readonly Uint8Array[]): Uint8Array {
    let input = this.#pick(corpus)
    const changes = 1 << this.#generator.below(4)
    for (let change = 0; change < changes; change++) input = this.#change(input, corpus)
    return input.length > MAX_INPUT ? input.subarray(0, MAX_INPUT) : input
  }

  #pick(corpus: readonly Uint8Array[]): Uint8Array {
    // Half of the time one of the last few: what was found lately leads on.
    const late = this.#generator.below(2) === 0 ? Math.min(8, corpus.length) : corpus.length
    return corpus[corpus.length - late + this.#generator.below(late)] ?? new Uint8Array()
  }

  #change(input: Uint8Array, corpus: readonly Uint8Array[]): Uint8Array {
    const at = this.#generator.below(input.length + 1)
    const length = this.#generator.below(Math.min(input.length - at, 64) + 1)
    switch (this.#generator.below(8)) {
      case 0:
        return this.#setByte(input, at, (old) => old ^ (1 << this.#generator.below(8)))
      case 1:
        return this.#setByte(input, at, () => BYTES[this.#generator.below(BYTES.length)] ?? 0)
      case 2:
        return this.#setByte(input, at, () => this.#generator.below(256))
      case 3:
        return splice(input, at, length, new Uint8Array())
      case 4:
        return splice(input, at, this.#generator.below(2) * length, this.#word())
      case 5: {
        const other = this.#pick(corpus)
        const from = this.#generator.below(other.length + 1)
        return splice(input, at, length, other.subarray(from, from + this.#generator.below(128)))
      }
      case 6:
        return splice(input, at, 0, this.#repeated(input.subarray(at, at + length)))
      default:
        return this.#token(input, corpus)
    }
  }

  #word(): Uint8Array {
    return this.#words[this.#generator.below(this.#words.length)] ?? new Uint8Array()
  }

  #setByte(input: Uint8Array, at: number, change: (old: number) => number): Uint8Array {
    const changed = Uint8Array.from(input)
    if (at < changed.length) changed[at] = change(changed[at] ?? 0)
    return changed
  }

  // Now and then a few bytes, so often that the input is as long as one may be: what is not linear takes its time then.
  #repeated(piece: Uint8Array): Uint8Array {
    const long = this.#generator.below(128) === 0
    const part = long ? piece.subarray(0, 1 + this.#generator.below(4)) : piece
    if (part.length === 0) return part
    const times = 1 + this.#generator.below(long ? Math.floor(MAX_INPUT / part.length) : 8)
    const repeated = new Uint8Array(part.length * times)
    for (let time = 0; time < times; time++) repeated.set(part, time * part.length)
    return repeated
  }

  /** Puts something in place of a name or a number, or nothing. */
  #token(input: Uint8Array, corpus: readonly Uint8Array[]): Uint8Array {
    const token = this.#anyToken(input)
    if (token === undefined) return input
    switch (this.#generator.below(4)) {
      case 0:
        return splice(input, token.index, token[0].length, new Uint8Array())
      case 1:
        return splice(
          input,
          token.index,
          token[0].length,
          Buffer.from(this.#anyToken(this.#pick(corpus))?.[0] ?? ''),
        )
      default:
        return splice(input, token.index, token[0].length, this.#word())
    }
  }

  #anyToken(input: Uint8Array): RegExpExecArray | undefined {
    const tokens = [
      ...Buffer.from(input.subarray(0, WINDOW))
        .toString('latin1')
        .matchAll(/[-+]?\d+(?:\.\d+)?|\w+/g),
    ]
    return tokens[this.#generator.below(tokens.length)]
  }
}

function splice(input: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  return Buffer.concat([input.subarray(0, at), added, input.subarray(at + removed)])
}
