import { Generator } from '../dist/engine/portable/generator.js'

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
