import type { Dice, Plan } from './plan.js'

const ALWAYS = 4_294_967_296

/**
 * Draws with given shares, each at the same cost: Walker's alias method with the tables of Vose (1991). Entry i stands
 * for itself with the probability `accept[i] / 2^32`, and else for entry `alias[i]`.
 */
export class AliasPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #shares: Float64Array
  readonly #accept: Float64Array
  readonly #alias: Uint32Array

  /** @param shares of the band's entries; they add up to 1 */
  constructor(band: Uint32Array, length: number, shares: Float64Array) {
    this.band = band
    this.length = length
    this.#shares = shares
    this.#accept = new Float64Array(length).fill(ALWAYS)
    this.#alias = new Uint32Array(length)
    this.#build()
  }

  draw({ generator }: Dice): number {
    const i = generator.below(this.length)
    const entry = generator.next() < (this.#accept[i] as number) ? i : (this.#alias[i] as number)
    return this.band[entry] as number
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(i: number): number {
    return this.#shares[i] as number
  }

  #build(): void {
    const { length } = this
    const scaled = this.#shares.slice(0, length)
    const small: number[] = []
    const large: number[] = []
    for (let i = 0; i < length; i++) {
      scaled[i] = (scaled[i] as number) * length
      if ((scaled[i] as number) < 1) small.push(i)
      else large.push(i)
    }
    while (small.length > 0 && large.length > 0) {
      const less = small.pop() as number
      const more = large.pop() as number
      this.#accept[less] = Math.floor((scaled[less] as number) * ALWAYS)
      this.#alias[less] = more
      scaled[more] = (scaled[more] as number) + (scaled[less] as number) - 1
      if ((scaled[more] as number) < 1) small.push(more)
      else large.push(more)
    }
  }
}
