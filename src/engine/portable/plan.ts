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

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }
}
