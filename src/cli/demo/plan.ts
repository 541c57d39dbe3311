import { createHash } from 'node:crypto'
import { Generator } from '../../engine/portable/generator.js'
import { toSeed } from '../../seed.js'
import { exponential } from '../../simulation/workload.js'

/** Requests in the order of their arrival. */
export interface Plan {
  /** When each is to be sent, ms from the start. */
  readonly at: Float64Array
  /** What each costs a server, whole CPU µs. */
  readonly work: Uint32Array
}

export interface PlanOptions {
  readonly seed: number
  /** Requests per second. */
  readonly rate: number
  /** Mean work, CPU ms. */
  readonly meanWork: number
  /** s */
  readonly duration: number
}

/** Draws arrivals of a Poisson process and exponential works; the same ones for the same options. */
export function makePlan({ seed, rate, meanWork, duration }: PlanOptions): Plan {
  const generator = new Generator(toSeed(seed))
  const drawn = (mean: number) => exponential(generator) * mean
  const at: number[] = []
  const work: number[] = []
  for (let time = drawn(1000 / rate); time < duration * 1000; time += drawn(1000 / rate)) {
    at.push(time)
    work.push(Math.round(drawn(meanWork) * 1000))
  }
  return { at: Float64Array.from(at), work: Uint32Array.from(work) }
}

/** Sum of the works, CPU ms. */
export function totalWork({ work }: Plan): number {
  return work.reduce((sum, each) => sum + each, 0) / 1000
}

/** A short name for a sequence of requests: two are alike if these are. */
export class SequenceDigest {
  readonly #hash = createHash('sha256')

  /** Adds one request: its time, ms, and its work, CPU µs. */
  add(at: number, work: number): void {
    this.#hash.update(Float64Array.of(at, work))
  }

  hex(): string {
    return this.#hash.copy().digest('hex').slice(0, 16)
  }
}
