import { drawDistinct } from './distinct.js'
import type { Generator } from './generator.js'
import type { Dice, Plan } from './plan.js'

/** How busy some nodes are, by index. */
export interface Loads {
  /** The lower is picked; `Infinity` where nothing is known. */
  at(index: number): number
}

/** Draws the one with the lowest load among some that are drawn at random, ties by chance. */
export class LowestPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  protected readonly loads: Loads
  readonly #choices: number
  readonly #candidates: Uint32Array

  /** @param choices how many are compared; all where there are no more */
  constructor(band: Uint32Array, length: number, loads: Loads, choices: number) {
    this.band = band
    this.length = length
    this.loads = loads
    this.#choices = Math.min(choices, length)
    this.#candidates = new Uint32Array(this.#choices === length ? 0 : this.#choices)
  }

  draw({ generator }: Dice): number {
    const { band, length } = this
    const choices = this.#choices
    const all = choices === length
    if (choices === 2 && !all) return this.#drawOfTwo(generator)
    if (!all) drawDistinct(this.#candidates, length, generator)
    let best = band[all ? 0 : (this.#candidates[0] as number)] as number
    let least = this.loads.at(best)
    let equals = 1
    for (let i = 1; i < choices; i++) {
      const index = band[all ? i : (this.#candidates[i] as number)] as number
      const load = this.loads.at(index)
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
    return this.lowerOf(
      band[first] as number,
      band[drawn === first ? length - 1 : drawn] as number,
      generator.next() >>> 31,
    )
  }

  /**
   * The lower of two members.
   * @param tie whether it is the first where they are equal: 1, else 0
   */
  protected lowerOf(one: number, other: number, tie: number): number {
    const load = this.loads.at(one)
    const otherLoad = this.loads.at(other)
    if (load !== otherLoad) return load > otherLoad ? other : one
    return tie === 0 ? other : one
  }
}
