import { Generator } from '../engine/portable/generator.js'
import { streamSeed } from '../simulation/workload.js'

const SPREAD_STREAM = 0x73707264

/** How the times of a log become arrivals. */
export interface ArrivalOptions {
  /** The log goes by so many times as fast. Default 1. */
  readonly speed?: number | undefined
  /** Fixes where in its second a request came, where a log tells no more than that. */
  readonly seed: number
}

/**
 * When the requests of a log arrive, ms from the first, ascending: a log is written as requests end, so it need not be in
 * order.
 *
 * The usual formats tell whole seconds. Taken as they are, a second's requests would come all at once, and every policy
 * would look bad; so where all times are whole seconds each is put anywhere in its second, by chance, which is what
 * requests do that know nothing of each other.
 */
export function arrivalsOf(times: Float64Array, { speed = 1, seed }: ArrivalOptions): Float64Array {
  const arrivals = Float64Array.from(times)
  if (arrivals.every((time) => time % 1000 === 0)) {
    const generator = new Generator(streamSeed(seed, SPREAD_STREAM))
    // Sorted first, so that what is drawn does not depend on the order of the log.
    arrivals.sort()
    for (let i = 0; i < arrivals.length; i++) {
      arrivals[i] = (arrivals[i] as number) + (generator.next() / 2 ** 32) * 1000
    }
  }
  arrivals.sort()
  const first = arrivals[0] ?? 0
  for (let i = 0; i < arrivals.length; i++) arrivals[i] = ((arrivals[i] as number) - first) / speed
  return arrivals
}
