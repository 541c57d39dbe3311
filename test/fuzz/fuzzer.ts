import { getHeapStatistics } from 'node:v8'
import { Generator } from '../../dist/engine/portable/generator.js'
import { toSeed } from '../../dist/seed.js'
import type { Coverage, Trace } from './coverage.js'
import type { Failure, Figures, Job } from './job.js'
import { Mutator } from './mutator.js'
import { shrunk } from './shrink.js'
import type { Target } from './target.js'

/** Inputs between two looks at the coverage: a look takes as long as hundreds of them. */
const BATCH = 256
/** Inputs longer than this are shortened before they are kept, bytes. */
const LONG = 512
/** The longest that an input may take, ms: a thousand times what the longest ones take. */
const MAX_MS = 250
/** What the heap may grow by, bytes. */
const MAX_GROWTH = 16 * 2 ** 20

export interface FuzzerSettings extends Pick<Job, 'seed' | 'pulse' | 'current'> {
  readonly target: Target
  readonly corpus: readonly Uint8Array[]
  readonly coverage: Coverage
  /** Collects garbage. */
  readonly collect: () => void
}

/** Feeds a reader changed inputs, and keeps those that reach code which no other reached, to change them further. */
export class Fuzzer {
  readonly #settings: FuzzerSettings
  readonly #mutator: Mutator
  readonly #corpus: Uint8Array[]
  #inputs = 0
  #read = 0
  #slowest = 0
  #heap: number | undefined
  #grown = 0
  #failure: Failure | undefined

  constructor(settings: FuzzerSettings) {
    this.#settings = settings
    this.#mutator = new Mutator(new Generator(toSeed(settings.seed)), settings.target.words)
    this.#corpus = [new Uint8Array(), ...settings.corpus]
    this.#batch(this.#corpus)
    settings.coverage.keep(settings.coverage.trace())
  }

  get failure(): Failure | undefined {
    return this.#failure
  }

  figures(): Figures {
    return {
      inputs: this.#inputs,
      read: this.#read,
      corpus: this.#corpus.length,
      covered: this.#settings.coverage.covered,
      slowest: this.#slowest,
      grown: this.#grown,
    }
  }

  /** One batch of inputs. */
  round(): void {
    const { coverage } = this.#settings
    const inputs = Array.from({ length: BATCH }, () => this.#mutator.mutate(this.#corpus))
    const trace = this.#batch(inputs)
    while (this.#failure === undefined && coverage.isNew(trace)) {
      const found = this.#find(inputs)
      // Code that runs once in a while, whatever the input.
      if (found === undefined) coverage.keep(trace)
      else this.#corpus.push(found)
    }
    // All that is made once has been made by now.
    if (this.#heap === undefined && this.#inputs > 20 * BATCH) this.#heap = this.#usedHeap()
  }

  /** Looks at what is left on the heap. */
  finish(): void {
    if (this.#heap === undefined || this.#failure !== undefined) return
    this.#grown = this.#usedHeap() - this.#heap
    if (this.#grown > MAX_GROWTH) {
      this.#failure = { why: `the heap has grown by ${this.#grown} bytes`, input: new Uint8Array() }
    }
  }

  #usedHeap(): number {
    this.#settings.collect()
    return getHeapStatistics().used_heap_size
  }

  /** The input of a batch that reaches new code, by halves; undefined where it can't be reached again. */
  #find(inputs: readonly Uint8Array[]): Uint8Array | undefined {
    const { coverage } = this.#settings
    let suspects = inputs
    while (suspects.length > 1) {
      const half = suspects.slice(0, suspects.length >> 1)
      suspects = coverage.isNew(this.#batch(half)) ? half : suspects.slice(half.length)
    }
    const isNew = (input: Uint8Array): boolean => coverage.isNew(this.#batch([input]))
    const [found] = suspects
    if (found === undefined || !isNew(found)) return undefined
    // A long one would make all that come of it long, and so the whole run slow.
    const input = found.length > LONG ? shrunk(found, isNew) : found
    coverage.keep(this.#batch([input]))
    return input
  }

  #batch(inputs: readonly Uint8Array[]): Trace {
    for (const input of inputs) {
      if (this.#failure !== undefined) break
      this.#one(input)
    }
    return this.#settings.coverage.trace()
  }

  #one(input: Uint8Array): void {
    const { pulse, current } = this.#settings
    current.set(input)
    Atomics.store(pulse, 1, input.length)
    Atomics.add(pulse, 0, 1)
    this.#inputs++
    let ms = this.#timed(input)
    // The machine may have been elsewhere: what is really slow takes that much of the process's own time, each time.
    for (let again = 0; again < 4 && ms > MAX_MS && this.#failure === undefined; again++) {
      const before = process.cpuUsage()
      this.#timed(input)
      ms = Math.min(ms, process.cpuUsage(before).user / 1000)
    }
    this.#slowest = Math.max(this.#slowest, ms)
    if (ms > MAX_MS) this.#failure ??= { why: `it took ${ms} ms`, input }
  }

  #timed(input: Uint8Array): number {
    const start = performance.now()
    const { read, why } = this.#check(input)
    const ms = performance.now() - start
    if (read) this.#read++
    if (why !== undefined) this.#failure = this.#shrunk({ why, input })
    return ms
  }

  /** Whether an input is read; and why it fails, where it does. */
  #check(input: Uint8Array): { read: boolean; why?: string } {
    try {
      return { read: this.#settings.target.check(input) }
    } catch (error) {
      return { read: false, why: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }

  /** The same failure, or one like it, by a shorter input. */
  #shrunk(failure: Failure): Failure {
    let { why } = failure
    const input = shrunk(failure.input, (shorter) => {
      const again = this.#check(shorter).why
      why = again ?? why
      return again !== undefined
    })
    return { why, input }
  }
}
