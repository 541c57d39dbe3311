import type { Algorithm } from '../algorithms/registry.js'
import type { Generator } from '../engine/portable/generator.js'
import { inFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import type { Member } from './member.js'
import { ShareWindow } from './share-window.js'
import { claimOf, type DrawnFrom, type Parts, partsOf } from './thinning.js'

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

/** Members that are excluded one by one, before all others are decided. */
const ONE_BY_ONE = 4
/** Draws in which chance may pass over a member and draw again; the last one is taken. */
const MOST_DRAWS = 32

const TAKEN = 0
const THINNED = 1
const FULL = 2
const CAPPED = 3
/** Thinned by chance, and may be drawn again in this pick. */
const AGAIN = 4
type Verdict = typeof TAKEN | typeof THINNED | typeof FULL | typeof CAPPED | typeof AGAIN

/**
 * Looks at draws before they are picks, where some member has a weight or a limit or is suspect, or shares are limited. A
 * member that is passed over is excluded and another one is drawn, or the draw is repeated with the same members where
 * that makes shares proportional to the weights (`Parts`). So this goes with every algorithm.
 */
export class Guard {
  readonly counters: GuardCounters = { thinned: 0, full: 0, capped: 0, failedOpen: 0 }
  /** Who was passed over in the last pick for their weight: they had their turn. */
  readonly passed: number[] = []
  readonly #memory: TableMemory
  readonly #generator: Generator
  readonly #window: ShareWindow | undefined
  readonly #parts: Parts
  #members: readonly Member[] = []
  // Made when it is first asked for: most balancers never do.
  #upNow: readonly number[] | undefined
  #isWeighed = false
  #largest = 1

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
    this.#upNow = undefined
    this.reweigh()
  }

  /** Takes in that weights changed. They are relative: the largest takes all that is drawn. */
  reweigh(): void {
    this.#parts.reweigh()
    this.#isWeighed = false
  }

  /** Indices of those that may be picked. */
  get #up(): readonly number[] {
    if (this.#upNow === undefined) {
      const up: number[] = []
      for (let i = 0; i < this.#members.length; i++) if (this.#member(i).up) up.push(i)
      this.#upNow = up
    }
    return this.#upNow
  }

  // Only where it is needed, as above.
  #weigh(): void {
    this.#isWeighed = true
    this.#largest = 0
    for (const index of this.#up) this.#largest = Math.max(this.#largest, claimOf(this.#member(index)))
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
    const index = this.#draw(draws, excluded)
    if (index >= 0) {
      this.#window?.add(index)
      this.#parts.picked(this.#member(index))
    }
    return index
  }

  #member(index: number): Member {
    return this.#members[index] as Member
  }

  #draw(draws: Draws, excluded: Uint32Array): number {
    let out = excluded
    for (let drawn = 1, passed = 0; ; drawn++) {
      const index = out.length === 0 ? draws.draw() : draws.drawBut(out)
      if (index === -1 && passed > 0) return this.#anyone(draws, excluded)
      if (index < 0) return index
      const verdict = this.#judge(index, draws)
      if (verdict === TAKEN) return index
      this.#count(index, verdict)
      if (verdict !== AGAIN) {
        out = Uint32Array.of(...out, index)
        if (++passed === ONE_BY_ONE) return this.#drawDecided(draws, out, excluded)
      } else if (drawn >= MOST_DRAWS) return index
    }
  }

  // Draws can be linear in the members, so all that are left are decided in one go, but for those that may be drawn again.
  #drawDecided(draws: Draws, passed: Uint32Array, excluded: Uint32Array): number {
    const out = new Set(passed)
    for (const index of this.#up) {
      if (out.has(index)) continue
      const verdict = this.#judge(index, draws)
      if (verdict !== TAKEN && verdict !== AGAIN) out.add(index)
    }
    const left = Uint32Array.from(out)
    for (let drawn = 1; ; drawn++) {
      const index = draws.drawBut(left)
      if (index === -1) return this.#anyone(draws, excluded)
      if (index < 0 || drawn >= MOST_DRAWS || this.#chance(index, draws) !== AGAIN) return index
      this.#count(index, AGAIN)
    }
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

  #count(index: number, verdict: Verdict): void {
    if (verdict === FULL) this.counters.full++
    else if (verdict === CAPPED) this.counters.capped++
    else {
      this.counters.thinned++
      this.passed.push(index)
    }
  }

  #judge(index: number, draws: Draws): Verdict {
    const limit = this.#limit(index)
    return limit === TAKEN ? this.#chance(index, draws) : limit
  }

  #chance(index: number, draws: Draws): Verdict {
    const claim = claimOf(this.#member(index))
    if (claim >= this.#largest) return TAKEN
    if (this.#generator.next() >= (claim / this.#largest) * 2 ** 32) {
      return this.#parts.mayComeAgain(index, this.#members, this.#up, draws) ? AGAIN : THINNED
    }
    return this.#parts.hasHad(index, this.#members, this.#up, draws) ? THINNED : TAKEN
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
