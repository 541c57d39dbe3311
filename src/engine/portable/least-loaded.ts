import type { Generator } from './generator.js'
import type { Dice, Plan } from './plan.js'

/** How busy some nodes are, by index. */
export interface Loads {
  /** The lower is picked; `Infinity` where nothing is known. */
  at(index: number): number
}

/** Draws the one with the lowest load among some that are drawn at random, ties by chance. */
export class LeastLoadedPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #loads: Loads
  readonly #choices: number
  readonly #candidates: Uint32Array

  /** @param choices how many are compared; all where there are no more */
  constructor(band: Uint32Array, length: number, loads: Loads, choices: number) {
    this.band = band
    this.length = length
    this.#loads = loads
    this.#choices = Math.min(choices, length)
    this.#candidates = new Uint32Array(this.#choices === length ? 0 : this.#choices)
  }

  draw({ generator }: Dice): number {
    const { band, length } = this
    const choices = this.#choices
    const all = choices === length
    if (choices === 2 && !all) return this.#drawOfTwo(generator)
    if (!all) this.#drawCandidates(generator)
    let best = band[all ? 0 : (this.#candidates[0] as number)] as number
    let least = this.#loads.at(best)
    let equals = 1
    for (let i = 1; i < choices; i++) {
      const index = band[all ? i : (this.#candidates[i] as number)] as number
      const load = this.#loads.at(index)
      if (load > least) continue
      equals = load < least ? 1 : equals + 1
      if (equals > 1 && generator.below(equals) !== 0) continue
      least = load
      best = index
    }
    return best
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }

  // What `draw` does, for the usual number: the two are not kept.
  #drawOfTwo(generator: Generator): number {
    const { band, length } = this
    const first = generator.below(length - 1)
    const drawn = generator.below(length)
    const one = band[first] as number
    const other = band[drawn === first ? length - 1 : drawn] as number
    const load = this.#loads.at(one)
    const otherLoad = this.#loads.at(other)
    if (load !== otherLoad) return load > otherLoad ? other : one
    return generator.below(2) === 0 ? other : one
  }

  // Distinct ones, every set of them as likely as any other: Floyd's way (Bentley and Floyd, 1987).
  #drawCandidates(generator: Generator): void {
    const candidates = this.#candidates
    const choices = this.#choices
    const first = this.length - choices
    for (let i = 0; i < choices; i++) {
      const drawn = generator.below(first + i + 1)
      candidates[i] = this.#has(drawn, i) ? first + i : drawn
    }
  }

  #has(candidate: number, count: number): boolean {
    for (let i = 0; i < count; i++) if (this.#candidates[i] === candidate) return true
    return false
  }
}
