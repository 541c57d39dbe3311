import { Generator } from '../dist/engine/portable/generator.js'

/** Of how many equal parts chances are whole numbers. */
const FINE = 2 ** 20

/** The same chances in every run. */
export class Chance {
  readonly #generator: Generator

  constructor(seed: number) {
    this.#generator = new Generator([seed, 0])
  }

  /** A whole number from 0 to n - 1. */
  below(n: number): number {
    return this.#generator.below(n)
  }

  /** An amount of mean 1, exponentially distributed: what is between things that come by chance. */
  exponential(): number {
    return -Math.log((this.below(FINE) + 1) / FINE)
  }

  /** Puts `items` in another order, in place. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const item = items[i] as T
      items[i] = items[j] as T
      items[j] = item
    }
    return items
  }
}
