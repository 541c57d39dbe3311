import type { Algorithm } from '../algorithms/algorithm.js'
import type { Generator } from '../engine/portable/generator.js'
import { inFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import type { Member } from './members.js'
import { claimOf, type DrawnFrom, type Parts, partsOf } from './parts.js'
import { ShareWindow } from './share-window.js'

/** How many times members were passed over when they were drawn, and why. */
export interface GuardCounters {
  /** For their weight, or since they are suspect. */
  thinned: number
  /** Since they had as much in flight as they told that they take. */
  full: number
  /** Since they had `maxShare` of the last picks. */
  capped: number
  /** Picks for which all would have been passed over, so that none was. */
  failedOpen: number
}

/** What draws members, by their indices; -1: nobody is left; below: a draw that failed. */
export interface Draws extends DrawnFrom {
  draw(): number
  /** One draw as though these were not up. */
  drawBut(excluded: Uint32Array): number
}

export interface GuardOptions {
  readonly memory: TableMemory
  readonly algorithm: Algorithm
  readonly generator: Generator
  /** The share of the picks that a member may have, above 0 to 1. */
  readonly maxShare: number
}

/** Draws that are decided one by one, before all others are. */
const ONE_BY_ONE = 4
/** Draws of which one is taken by the parts of those that found them; the last one is, whatever its part. */
const BY_PART = 32

const TAKEN = 0
const THINNED = 1
const FULL = 2
const CAPPED = 3
type Verdict = typeof TAKEN | typeof THINNED | typeof FULL | typeof CAPPED

/**
 * Looks at draws before they are picks, where some member has a weight or a limit or is suspect, or shares are limited.
 * Whoever is passed over is excluded, and another is drawn: so this goes with every algorithm.
 */
export class Guard {
  readonly counters: GuardCounters = { thinned: 0, full: 0, capped: 0, failedOpen: 0 }
  /** Who was passed over in the last pick for their weight: they had their turn. */
  readonly passed: number[] = []
  readonly #memory: TableMemory
  readonly #generator: Generator
  readonly #window: ShareWindow | undefined
  readonly #parts: Parts | undefined
  #members: readonly Member[] = []
  // Indices of those that may be picked.
  #up: number[] = []
  #isWeighed = false
  #largest = 1
  // Of their parts, where draws go by these; else 0.
  #largestPart = 0

  constructor({ memory, algorithm, generator, maxShare }: GuardOptions) {
    this.#memory = memory
    this.#generator = generator
    this.#window = maxShare < 1 ? new ShareWindow(maxShare) : undefined
    this.#parts = partsOf(algorithm, memory, generator)
  }

  /** Takes the members, as whoever draws knows them. */
  take(members: readonly Member[]): void {
    const before = this.#members
    this.#members = members
    this.#window?.remap(members.length, (index) => {
      const member = before[index]
      return member !== undefined && members[member.index] === member ? member.index : -1
    })
    this.#up = []
    for (let i = 0; i < members.length; i++) if (this.#member(i).up) this.#up.push(i)
    this.reweigh()
  }

  /** Takes in that weights changed. They are relative: the largest takes all that is drawn. */
  reweigh(): void {
    this.#parts?.reweigh()
    this.#isWeighed = false
  }

  // Only where it is needed: most balancers never do.
  #weigh(): void {
    this.#isWeighed = true
    this.#largest = 0
    let [least, largest] = [1, 0]
    for (const index of this.#up) {
      const member = this.#member(index)
      this.#largest = Math.max(this.#largest, this.#weight(member))
      least = Math.min(least, member.part)
      largest = Math.max(largest, member.part)
    }
    this.#largestPart = this.#parts === undefined && least < largest ? largest : 0
  }

  /** Whether another pick would give a member more than its share of the last ones. */
  isCapped(index: number): boolean {
    return this.#window?.isFull(index, this.#up.length) ?? false
  }

  /**
   * One pick.
   * @param excluded indices of those that may not be picked this time
   */
  pick(draws: Draws, excluded: Uint32Array): number {
    this.passed.length = 0
    if (!this.#isWeighed) this.#weigh()
    const drawn = this.#drawByPart(draws, excluded)
    const index = drawn < 0 || this.#takes(drawn, draws) ? drawn : this.#another(drawn, draws, excluded)
    if (index >= 0) {
      this.#window?.add(index)
      this.#parts?.picked(this.#member(index))
    }
    return index
  }

  #member(index: number): Member {
    return this.#members[index] as Member
  }

  // What those that found a member say of it counts here, or else where it is drawn.
  #weight(member: Member): number {
    return this.#parts === undefined ? member.factor : claimOf(member)
  }

  // Whoever is not taken may be drawn again: so the parts of those that have the same chance come out exactly.
  #drawByPart(draws: Draws, excluded: Uint32Array): number {
    const draw = () => (excluded.length === 0 ? draws.draw() : draws.drawBut(excluded))
    let index = draw()
    if (this.#largestPart === 0) return index
    for (let i = 1; i < BY_PART && index >= 0; i++) {
      const { part } = this.#member(index)
      if (this.#generator.next() < (part / this.#largestPart) * 2 ** 32) break
      this.counters.thinned++
      this.passed.push(index)
      index = draw()
    }
    return index
  }

  // Passes over who was drawn, and draws others.
  #another(drawn: number, draws: Draws, excluded: Uint32Array): number {
    const out = new Set(excluded)
    let index = drawn
    for (let i = 1; i < ONE_BY_ONE && index >= 0; i++) {
      out.add(index)
      index = draws.drawBut(Uint32Array.from(out))
      if (index < -1 || (index >= 0 && this.#takes(index, draws))) return index
    }
    if (index >= 0) {
      // Each draw is linear in the members, so that all that are left are decided in one go.
      out.add(index)
      for (const other of this.#up) if (!out.has(other) && this.#judge(other, draws) !== TAKEN) out.add(other)
      index = draws.drawBut(Uint32Array.from(out))
      if (index !== -1) return index
    }
    return this.#anyone(draws, excluded)
  }

  // Nobody is left: chance does not count, and limits where that is not enough.
  #anyone(draws: Draws, excluded: Uint32Array): number {
    const out = new Set(excluded)
    for (const index of this.#up) if (this.#limit(index) !== TAKEN) out.add(index)
    const index = draws.drawBut(Uint32Array.from(out))
    if (index !== -1) return index
    this.counters.failedOpen++
    return excluded.length === 0 ? draws.draw() : draws.drawBut(excluded)
  }

  #takes(index: number, draws: Draws): boolean {
    const verdict = this.#judge(index, draws)
    if (verdict === TAKEN) return true
    if (verdict === FULL) this.counters.full++
    else if (verdict === CAPPED) this.counters.capped++
    else {
      this.counters.thinned++
      this.passed.push(index)
    }
    return false
  }

  #judge(index: number, draws: Draws): Verdict {
    const limit = this.#limit(index)
    if (limit !== TAKEN) return limit
    const weight = this.#weight(this.#member(index))
    if (weight >= this.#largest) return TAKEN
    if (this.#generator.next() >= (weight / this.#largest) * 2 ** 32) return THINNED
    return this.#parts?.hasHad(index, this.#members, this.#up, draws) ? THINNED : TAKEN
  }

  #limit(index: number): Verdict {
    const member = this.#member(index)
    const { maxInFlight = 0 } = member.told
    if (maxInFlight > 0 && this.#flights(member) >= maxInFlight) return FULL
    return this.isCapped(index) ? CAPPED : TAKEN
  }

  #flights({ slot, generation }: Member): number {
    return inFlight(this.#memory, slot, generation)
  }
}
