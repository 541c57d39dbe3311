import { OUT } from '../../engine/portable/band.js'
import type { Generator } from '../../engine/portable/generator.js'
import type { Dice, Plan } from '../../engine/portable/plan.js'
import * as constants from './constants.js'
import type { WeightClamp } from './options.js'

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const LARGEST_WEIGHT = constants.LARGEST_WEIGHT
const OFFSET = constants.OFFSET
const SEQUENCES = constants.SEQUENCES

/**
 * Scales weights to whole numbers from 1 to `LARGEST_WEIGHT`, which at least one of them gets.
 * @param weights above 0 where they are known
 */
export function scaleWeights(weights: Float64Array, clamp: WeightClamp): Uint16Array {
  let known = 0
  let sum = 0
  let largest = 0
  for (const weight of weights) {
    if (!(weight > 0)) continue
    known++
    sum += weight
    if (weight > largest) largest = weight
  }
  // Nor are there weights that can't be added up and scaled: without a largest one no turn would end.
  if (known < 2 || sum * LARGEST_WEIGHT === Number.POSITIVE_INFINITY)
    return new Uint16Array(weights.length).fill(LARGEST_WEIGHT)
  const mean = sum / known
  const cap = Math.min(largest, clamp.max * mean)
  const scaledMean = Math.max(1, Math.floor((mean * LARGEST_WEIGHT) / cap + 0.5))
  const least = clamp.min * scaledMean
  const floor = Math.max(1, clamp.roundUp ? Math.ceil(least) : Math.floor(least + 0.5))
  // Not `map`: it calls a function for each.
  const scaled = new Uint16Array(weights.length)
  for (let i = 0; i < scaled.length; i++) {
    const weight = weights[i] as number
    scaled[i] =
      weight > 0
        ? Math.max(floor, Math.floor((Math.min(weight, cap) * LARGEST_WEIGHT) / cap + 0.5))
        : scaledMean
  }
  return scaled
}

/**
 * Weighted round robin: the static stride scheduler of gRPC. Numbers of one sequence are taken until one is a pick:
 * number s stands for entry `s % length` in round `floor(s / length)`, which entries of a smaller weight miss now and then.
 */
export class StridePlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  /** The scaled weight of each entry. */
  readonly weights: Uint16Array
  readonly #total: number

  /**
   * @param band the entries: the first as many as there are weights
   * @param weights from 1 to `LARGEST_WEIGHT`, one of them that
   */
  constructor(band: Uint32Array, weights: Uint16Array) {
    this.band = band
    this.length = weights.length
    this.weights = weights
    let total = 0
    for (const weight of weights) total += weight
    this.#total = total
  }

  draw(dice: Dice): number {
    const { length } = this
    let sequence = dice.turn
    for (;;) {
      const round = Math.floor(sequence / length)
      const i = sequence - round * length
      if (++sequence === SEQUENCES) sequence = 0
      if (!isPicked(this.weights[i] as number, round, i)) continue
      dice.turn = sequence
      return this.band[i] as number
    }
  }

  // What `draw` does so often, but for the division.
  fill(into: Uint32Array, dice: Dice): void {
    const { band, length, weights } = this
    let sequence = dice.turn
    let round = Math.floor(sequence / length)
    let i = sequence - round * length
    for (let filled = 0; filled < into.length; ) {
      into[filled] = band[i] as number
      if (isPicked(weights[i] as number, round, i)) filled++
      i++
      if (++sequence === SEQUENCES) sequence = round = i = 0
      else if (i === length) {
        i = 0
        round++
      }
    }
    dice.turn = sequence
  }

  share(i: number): number {
    return (this.weights[i] as number) / this.#total
  }

  /** Goes on in the sequence where the weights are those of the plan before; else starts somewhere in it. */
  startAfter(before: Plan, dice: Dice): void {
    if (this.length === 0 || (before instanceof StridePlan && areEqual(this.weights, before.weights))) return
    dice.turn = this.#start(dice.generator)
  }

  // A number of the sequence at which an entry is picked. The chance of each entry is its share: from any number taken at
  // random the first pick would be a heavy entry too often, since heavy entries also come next after the turns that light
  // ones miss.
  #start(generator: Generator): number {
    const { length, weights } = this
    let left = Math.floor((generator.next() / 2 ** 32) * this.#total)
    let i = 0
    while (left >= (weights[i] as number)) left -= weights[i++] as number
    const rounds = Math.min(LARGEST_WEIGHT, Math.floor(SEQUENCES / length))
    const round = roundFrom(weights[i] as number, generator.below(rounds), i)
    const sequence = round * length + i
    return sequence < SEQUENCES ? sequence : i
  }

  /** One draw that passes over the turns of some; -1 where no one is left. */
  drawExcluding(excluded: ReadonlySet<number>, dice: Dice): number {
    let best = this.#nextNumber(excluded, dice.turn)
    if (best >= SEQUENCES) best = this.#nextNumber(excluded, 0)
    if (best === Number.POSITIVE_INFINITY) return -1
    dice.turn = best + 1 < SEQUENCES ? best + 1 : 0
    return this.band[best % this.length] as number
  }

  // The first number from this one on at which an entry that is not excluded is picked. Beyond the sequence's end it is not
  // reached, and infinite where all are excluded. Found by entry: to take the numbers one by one could last 65,535 rounds.
  #nextNumber(excluded: ReadonlySet<number>, sequence: number): number {
    const { band, length, weights } = this
    const round = Math.floor(sequence / length)
    const position = sequence - round * length
    let best = Number.POSITIVE_INFINITY
    for (let i = 0; i < length; i++) {
      if (excluded.has(band[i] as number)) continue
      const first = i < position ? round + 1 : round
      best = Math.min(best, roundFrom(weights[i] as number, first, i) * length + i)
    }
    return best
  }
}

function areEqual(some: Uint16Array, others: Uint16Array): boolean {
  return some.length === others.length && some.every((value, i) => value === others[i])
}

// The first round from this one on in which entry `i` is picked. Each round adds the weight to what `isPicked` looks at.
function roundFrom(weight: number, round: number, i: number): number {
  const at = (weight * round + i * OFFSET) % LARGEST_WEIGHT
  return round + Math.ceil(Math.max(0, LARGEST_WEIGHT - weight - at) / weight)
}

// Whole numbers below 2^53 throughout, and the quotient is at least 1/65,535 from the next one: exact.
function isPicked(weight: number, round: number, i: number): boolean {
  const at = weight * round + i * OFFSET
  return at - Math.floor(at / LARGEST_WEIGHT) * LARGEST_WEIGHT >= LARGEST_WEIGHT - weight
}

/**
 * The plan for these weights.
 * @param raw `OUT` for who may not be picked
 * @param weights above 0 where they are known
 */
export function planInStride(
  raw: Float64Array,
  count: number,
  weights: Float64Array,
  clamp: WeightClamp,
): StridePlan {
  const band = new Uint32Array(count)
  const eligible = new Float64Array(count)
  let length = 0
  for (let i = 0; i < count; i++) {
    if (raw[i] === OUT) continue
    band[length] = i
    eligible[length++] = weights[i] as number
  }
  return new StridePlan(band, scaleWeights(eligible.subarray(0, length), clamp))
}
