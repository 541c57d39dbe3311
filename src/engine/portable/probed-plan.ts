import { OUT } from './band.js'
import type { Dice, Plan } from './plan.js'
import type { ProbePool } from './probe-pool.js'

/** Draws by the entries of a pool; with equal chances where that has too few. */
export class ProbedPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #raw: Float64Array
  readonly #pool: ProbePool

  /** @param raw `OUT` for those that may not be picked */
  constructor(band: Uint32Array, length: number, raw: Float64Array, pool: ProbePool) {
    this.band = band
    this.length = length
    this.#raw = raw
    this.#pool = pool
  }

  draw({ generator }: Dice): number {
    const member = this.#pool.pick(this.#raw, OUT)
    return member >= 0 ? member : (this.band[generator.below(this.length)] as number)
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }
}
