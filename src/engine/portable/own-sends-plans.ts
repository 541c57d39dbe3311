import { NOT_ELIGIBLE } from '../engine.js'
import type { AliasPlan } from './alias.js'
import type { OwnSends } from './own-sends.js'
import type { Dice, Plan } from './plan.js'
import { fillEqual, NO_WEIGHT, planByWeight } from './spare.js'

/** A plan that changes with each draw; `rebuild` after picks by other plans over the same sends. */
export interface SendingPlan extends Plan {
  rebuild(): void
}

/** Draws with equal chances in a band of estimates, which rise by each draw. */
export class SendingBandPlan implements SendingPlan {
  readonly band: Uint32Array
  length = 0
  readonly #values: Float64Array
  readonly #sends: OwnSends
  readonly #threshold: number
  #most = 0
  #limit = 0

  /** @param values what readings count as, or `NOT_ELIGIBLE` */
  constructor(values: Float64Array, sends: OwnSends, threshold: number) {
    this.band = new Uint32Array(values.length)
    this.#values = values
    this.#sends = sends
    this.#threshold = threshold
    this.rebuild()
  }

  rebuild(): void {
    const { length } = this.#values
    let least = NOT_ELIGIBLE
    for (let i = 0; i < length; i++) least = Math.min(least, this.#estimate(i))
    this.#most = least + this.#threshold
    this.#limit = least + this.#sends.cost
    this.length = 0
    for (let i = 0; i < length; i++) if (this.#isWithin(this.#estimate(i))) this.band[this.length++] = i
  }

  draw({ generator }: Dice): number {
    const { band } = this
    const place = generator.below(this.length)
    const index = band[place] as number
    this.#sends.count(index)
    if (!this.#isWithin(this.#estimate(index))) {
      this.length--
      band[place] = band[this.length] as number
      if (this.length === 0) this.rebuild()
    }
    return index
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }

  #estimate(i: number): number {
    return (this.#values[i] as number) + this.#sends.load(i)
  }

  // No estimate of who is not eligible is below either.
  #isWithin(estimate: number): boolean {
    return estimate < this.#limit || (estimate <= this.#most && estimate !== NOT_ELIGIBLE)
  }
}

/** Draws between two makings of the tables, at least. */
const LEAST_DRAWS = 32

/** Draws by what members have to spare, less what was sent to them; the tables are made anew every so many draws. */
export class SendingSparePlan implements SendingPlan {
  readonly #weights: Float64Array
  readonly #sends: OwnSends
  readonly #minShare: number
  #plan: AliasPlan
  #left = 0

  /** @param weights by the readings, or `NO_WEIGHT` */
  constructor(weights: Float64Array, sends: OwnSends, minShare: number) {
    this.#weights = weights
    this.#sends = sends
    this.#minShare = minShare
    this.#plan = this.#make()
  }

  get band(): Uint32Array {
    return this.#plan.band
  }

  get length(): number {
    return this.#plan.length
  }

  rebuild(): void {
    this.#plan = this.#make()
  }

  draw(dice: Dice): number {
    if (this.#left === 0) this.rebuild()
    this.#left--
    const index = this.#plan.draw(dice)
    this.#sends.count(index)
    return index
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(i: number): number {
    return this.#plan.share(i)
  }

  #make(): AliasPlan {
    const count = this.#weights.length
    const weights = new Float64Array(count)
    let total = 0
    for (let i = 0; i < count; i++) {
      const weight = this.#weights[i] as number
      weights[i] = weight === NO_WEIGHT ? NO_WEIGHT : Math.max(0, weight - this.#sends.load(i))
      if (weight !== NO_WEIGHT) total += weights[i] as number
    }
    if (!(total > 0)) total = fillEqual(weights, count)
    const plan = planByWeight(weights, count, total, this.#minShare)
    this.#left = Math.max(LEAST_DRAWS, plan.length)
    return plan
  }
}
