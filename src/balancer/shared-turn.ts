import type { EngineCore, MemberArrays, View } from '../engine/engine.js'
import { NOT_ELIGIBLE } from '../engine/engine.js'
import type { Plan } from '../engine/portable/plan.js'
import type { TableBuffer } from '../table/memory.js'

/** Whose turns a turn counts: each a word of the buffer, a cache line apart. */
export const MEMBER_TURN = 0
export const ARRAY_TURN = 16

/** Bytes of the buffer. */
export const TURN_BYTES = 128

/** Memory for turns that threads take together, or alone where the platform has no shared memory. */
export function createTurns(first: number): TableBuffer {
  const shares = typeof SharedArrayBuffer === 'function'
  const buffer = shares ? new SharedArrayBuffer(TURN_BYTES) : new ArrayBuffer(TURN_BYTES)
  const words = new Int32Array(buffer)
  words[MEMBER_TURN] = first
  words[ARRAY_TURN] = first
  return buffer
}

/**
 * Whose turn it is, in memory that threads share. The position whose turn it is among n is `turn % n`, and then
 * `turn = turn % n + 1`, as for `roundRobin` alone: so it neither overflows, nor is anyone passed over when n changes.
 */
export class SharedTurn {
  readonly #words: Int32Array
  readonly #word: number

  constructor(buffer: TableBuffer, word: typeof MEMBER_TURN | typeof ARRAY_TURN) {
    this.#words = new Int32Array(buffer)
    this.#word = word
  }

  /** Takes so many turns at once, 1 or more; the first of them. `length` is at least 1. */
  take(length: number, turns = 1): number {
    // Read plainly first, which costs little: the exchange tells what the word really is.
    let turn = this.#words[this.#word] as number
    for (;;) {
      const position = positionOf(turn, length)
      const next = turns === 1 ? position + 1 : ((position + turns - 1) % length) + 1
      const found = Atomics.compareExchange(this.#words, this.#word, turn, next)
      if (found === turn) return position
      turn = found
    }
  }

  /** Takes the first turn of someone who is wanted; -1 where no one is, and nothing changes. */
  takeWanted(length: number, isWanted: (position: number) => boolean): number {
    for (let turn = Atomics.load(this.#words, this.#word); ; ) {
      let position = positionOf(turn, length)
      let passed = 0
      while (passed < length && !isWanted(position)) {
        position = (position + 1) % length
        passed++
      }
      if (passed === length) return -1
      const found = Atomics.compareExchange(this.#words, this.#word, turn, position + 1)
      if (found === turn) return position
      turn = found
    }
  }
}

// Mostly below: a division takes longer than the rest.
function positionOf(turn: number, length: number): number {
  return turn >= 0 && turn < length ? turn : (turn >>> 0) % length
}

/** Draws from a band in turns that threads share. */
export class SharedTurnPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #turn: SharedTurn

  constructor({ band, length }: Pick<Plan, 'band' | 'length'>, turn: SharedTurn) {
    this.band = band
    this.length = length
    this.#turn = turn
  }

  draw(): number {
    return this.band[this.#turn.take(this.length)] as number
  }

  fill(into: Uint32Array): void {
    if (into.length === 0) return
    let position = this.#turn.take(this.length, into.length)
    for (let i = 0; i < into.length; i++) {
      into[i] = this.band[position] as number
      if (++position === this.length) position = 0
    }
  }

  share(): number {
    return 1 / this.length
  }
}

/**
 * `roundRobin({ shared: true })`: whom an engine finds eligible, in turns that threads share. Such turns can't be drawn
 * ahead nor taken back, so that picks are made one at a time; and here, since that is faster than a call of native code.
 */
export class SharedTurnCore implements EngineCore {
  readonly name
  readonly live = true
  readonly #core: EngineCore
  readonly #turn: SharedTurn
  #plan: SharedTurnPlan

  /** @param core a core of `roundRobin`, whose draws are not used */
  constructor(core: EngineCore, turn: SharedTurn) {
    this.name = core.name
    this.#core = core
    this.#turn = turn
    this.#plan = this.#planOf(new Float64Array(0))
  }

  setMembers(members: MemberArrays): void {
    this.#core.setMembers(members)
  }

  refresh(now: number, view: View): void {
    this.#core.refresh(now, view)
    this.#plan = this.#planOf(view.values)
  }

  fill(into: Uint32Array): number {
    if (this.#plan.length === 0) return 0
    this.#plan.fill(into)
    return into.length
  }

  pick(): number {
    return this.#plan.length === 0 ? -1 : this.#plan.draw()
  }

  rewind(): void {}

  pickExcluding(excluded: Uint32Array): number {
    const { band, length } = this.#plan
    if (length === 0) return -1
    const out = new Set(excluded)
    const position = this.#turn.takeWanted(length, (position) => !out.has(band[position] as number))
    return position < 0 ? -1 : (band[position] as number)
  }

  fillShares(shares: Float64Array): void {
    this.#core.fillShares(shares)
  }

  #planOf(values: Float64Array): SharedTurnPlan {
    const band = Uint32Array.from(values.keys()).filter((index) => values[index] !== NOT_ELIGIBLE)
    return new SharedTurnPlan({ band, length: band.length }, this.#turn)
  }
}
