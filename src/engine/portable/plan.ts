import { OUT } from './band.js'
import type { Generator } from './generator.js'

/** What draws change: where the generator and the turn are. */
export interface Dice {
  readonly generator: Generator
  /** Whose turn it is, for plans that go in turn. */
  turn: number
}

/** What draws are made from, until the next refresh. */
export interface Plan {
  /** Those that may be picked: indices in order; the first `length`. */
  readonly band: Uint32Array
  readonly length: number
  /** One draw. Not to be called where there is nothing to draw. */
  draw(dice: Dice): number
  /** As many draws as `into` is long. */
  fill(into: Uint32Array, dice: Dice): void
  /** The probability of the band's entry `i`. */
  share(i: number): number
  /** Takes over from the plan of the refresh before, where draws go on from there. */
  startAfter?(before: Plan, dice: Dice): void
  /**
   * One draw as though some were not in the band, -1 where no one is left: for plans that do not become another plan by
   * that.
   */
  drawExcluding?(excluded: ReadonlySet<number>, dice: Dice): number
}

/** Draws with equal chances. */
export class UniformPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number

  constructor(band: Uint32Array, length: number) {
    this.band = band
    this.length = length
  }

  draw({ generator }: Dice): number {
    return this.band[generator.below(this.length)] as number
  }

  fill(into: Uint32Array, { generator }: Dice): void {
    const { band, length } = this
    for (let i = 0; i < into.length; i++) into[i] = band[generator.below(length)] as number
  }

  share(): number {
    return 1 / this.length
  }
}

/** Draws in turn. */
export class TurnPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number

  constructor(band: Uint32Array, length: number) {
    this.band = band
    this.length = length
  }

  draw(dice: Dice): number {
    const place = dice.turn % this.length
    dice.turn = place + 1
    return this.band[place] as number
  }

  drawExcluding(excluded: ReadonlySet<number>, dice: Dice): number {
    const { band, length } = this
    for (let i = 0; i < length; i++) {
      const place = (dice.turn + i) % length
      const index = band[place] as number
      if (excluded.has(index)) continue
      dice.turn = place + 1
      return index
    }
    return -1
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }
}

/** Draws with equal chances from all that are not `OUT`. */
export function planUniform(raw: Float64Array, count: number): UniformPlan {
  const band = new Uint32Array(count)
  let length = 0
  for (let i = 0; i < count; i++) if (raw[i] !== OUT) band[length++] = i
  return new UniformPlan(band, length)
}
