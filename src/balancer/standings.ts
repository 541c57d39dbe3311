import type { WeightOf } from '../algorithms/weights.js'
import { MOST_WEIGHT, type NodeState } from '../report.js'

/**
 * What becomes of a member, the gravest of what this process ordered and what the node told: `up` ones take work,
 * `drain` ones finish what they have, `maint` ones are out for maintenance, `down` ones are ill.
 */
export type MemberState = NodeState

/** What this process ordered of a member, by `add` and `drain`. */
export type MemberOrder = 'up' | 'drain'

/** What a node told of itself; what it has never told is undefined. */
export interface Told {
  /** What it says of taking work. */
  readonly state?: NodeState | undefined
  /** Its weight in percent of its usual one: 200 counts twice, 0 takes it out; above 25,600 counts as 25,600. */
  readonly weight?: number | undefined
  /** Most requests in flight that it takes from this process; 0: no limit. */
  readonly maxInFlight?: number | undefined
}

/** Who can do nothing for a member's requests, and why, the worst last. Where all are the same, so is what becomes of them. */
export const WELL = 0
/** Its requests failed: it is sent none for a while. */
export const EJECTED = 1
/** It told that it is ill, or nothing accepts connections there. */
export const DOWN = 2
/** It was ordered out, by this process or by itself, or its weight is 0: that is obeyed whatever becomes of the others. */
export const OUT_BY_ORDER = 3

/** One of the four. */
export type Grade = typeof WELL | typeof EJECTED | typeof DOWN | typeof OUT_BY_ORDER

/** What a member's grade depends on. */
export interface Standing {
  readonly id: string
  /** What its weight and its place among keys go by: its id, unless it has another key. */
  key: string
  order: MemberOrder
  told: Told
  /** Whether this thread ejected it for what became of its requests, or the balancer's own thread did. */
  ejected: boolean
  ejectedThere: boolean
  /** Whether it was ejected since nothing accepts connections there. */
  refused: boolean
  refusedThere: boolean
  /** Whether it was found to claim idleness while its requests fail or slow down, here or there. */
  suspect: boolean
  suspectThere: boolean
  /** Whether it refused polls, or did not answer them, several in a row; here or there. */
  unreachable: boolean
  unreachableThere: boolean
  /** Which members are picked first, by whoever found them: those of the lowest tier of which any is well. */
  tier: number
  /** Its part of the picks by whoever found it, 0 (never picked) to 1, which the largest of its tier has. */
  part: number
  /** What follows from these, kept by `Standings`. */
  grade: Grade
  /** Whether it may be picked. */
  up: boolean
  /**
   * Its weight relative to others, at least 0, by what it reported, whether it is suspect and whether it can be reached; 1 where
   * none says anything.
   */
  factor: number
  /** Whether that is not 1, or `part` is less, or it has reported a limit. */
  guarded: boolean
}

/** Whether this process or the node itself has ordered that it takes no new work. */
export function isOrderedOut(member: Pick<Standing, 'order' | 'told'> | undefined): boolean {
  const state = member?.told.state
  return member?.order === 'drain' || state === 'drain' || state === 'maint'
}

/** What a member that claims idleness, and does not answer like that, gets of its share. */
const SUSPECT_FACTOR = 0.5

/** What an unreachable member gets of its share: with two members a tenth of an equal one, with more a twentieth. */
const UNREACHABLE_FACTOR = 0.05

/** The gravest of what was ordered and told. */
export function stateOf({ order, told }: Standing): MemberState {
  const { state = 'up', weight } = told
  return state === 'up' && (order === 'drain' || weight === 0) ? 'drain' : state
}

function factorOf({ told, suspect, suspectThere, unreachable, unreachableThere }: Standing): number {
  const factor = Math.min(told.weight ?? 100, MOST_WEIGHT) / 100
  if (unreachable || unreachableThere) return factor * UNREACHABLE_FACTOR
  return suspect || suspectThere ? factor * SUSPECT_FACTOR : factor
}

/** How many members there are of each grade. */
type Counts = [well: number, ejected: number, down: number, outByOrder: number]

/**
 * Who of a balancer's members may be picked: the one place that decides it. Orders are always obeyed. Health is, unless
 * nobody else is left: where all that were not ordered out are down or ejected, all of them are used (fail open). Of
 * several tiers the lowest is picked from of which any member is well; the others are in reserve. With none well
 * anywhere it is the lowest of which not all were ordered out.
 */
export class Standings {
  /** How many members have another weight than the usual one, or a limit to what they take at once. */
  guarded = 0
  /** How many times it came to that. */
  timesOpen = 0
  /** Ids of members that may not be picked. */
  readonly out = new Set<string>()
  /** Those among them that may where nobody else is left: they are down, ejected or in reserve. */
  readonly ill = new Set<string>()
  readonly #weightOf: WeightOf
  readonly #counts: Counts = [0, 0, 0, 0]
  // The same by tier.
  readonly #tiers = new Map<number, Counts>()
  #open = false
  #tier = 0

  /** @param weightOf the fixed weight of a node by its id; a member that has none is not picked */
  constructor(weightOf: WeightOf) {
    this.#weightOf = weightOf
  }

  /** Whether members that are down or ejected are picked, since all are. */
  get isOpen(): boolean {
    return this.#open
  }

  /** The tier that is picked from. */
  get tier(): number {
    return this.#tier
  }

  /** How many members of a tier would be picked if none were ejected. */
  willing(tier: number): number {
    return this.count(WELL, tier) + this.count(EJECTED, tier)
  }

  /** How many members there are of a grade: of one tier, or of all. */
  count(grade: Grade, tier?: number): number {
    const counts = tier === undefined ? this.#counts : this.#tiers.get(tier)
    return counts === undefined ? 0 : counts[grade]
  }

  /** Whether members of other tiers than this are well, so that all of it may be out. */
  hasReserve(tier: number): boolean {
    return this.count(WELL) > this.count(WELL, tier)
  }

  enter(member: Standing): void {
    member.factor = factorOf(member)
    member.guarded = member.factor !== 1 || member.part < 1 || (member.told.maxInFlight ?? 0) > 0
    if (member.guarded) this.guarded++
    member.grade = this.#gradeOf(member)
    this.#add(member, 1)
    this.#apply(member)
  }

  /** Call this before its tier changes, and `enter` after. */
  leave(member: Standing): void {
    const { id, guarded } = member
    if (guarded) this.guarded--
    this.#add(member, -1)
    this.out.delete(id)
    this.ill.delete(id)
  }

  /** Takes in that something of a member changed, but its tier. Returns whether that may change who is picked. */
  update(member: Standing): boolean {
    const { grade } = member
    this.leave(member)
    this.enter(member)
    return member.grade !== grade
  }

  /**
   * Decides whether health is to be obeyed, and which tier is picked from, once all changes were taken in. Returns
   * whether that changed.
   * @param members all of them
   */
  settle(members: Iterable<Standing>): boolean {
    const open = this.count(WELL) === 0 && this.count(EJECTED) + this.count(DOWN) > 0
    const tier = this.#lowest(open)
    if (open === this.#open && tier === this.#tier) return false
    if (open && !this.#open) this.timesOpen++
    this.#open = open
    this.#tier = tier
    for (const member of members) this.#apply(member)
    return true
  }

  // Where nobody can be picked the tier stays as it is.
  #lowest(open: boolean): number {
    let lowest = Number.POSITIVE_INFINITY
    for (const [tier, [well, ejected, down]] of this.#tiers) {
      if (tier < lowest && (open ? ejected + down : well) > 0) lowest = tier
    }
    return lowest === Number.POSITIVE_INFINITY ? this.#tier : lowest
  }

  #add({ tier, grade }: Standing, change: 1 | -1): void {
    const counts: Counts = this.#tiers.get(tier) ?? [0, 0, 0, 0]
    counts[grade] += change
    this.#counts[grade] += change
    if (counts.every((count) => count === 0)) this.#tiers.delete(tier)
    else this.#tiers.set(tier, counts)
  }

  #gradeOf(member: Standing): Grade {
    const { key, order, told, part } = member
    if (order === 'drain' || told.state === 'drain' || told.state === 'maint') return OUT_BY_ORDER
    if (told.weight === 0 || part === 0 || this.#weightOf(key) === 0) return OUT_BY_ORDER
    if (told.state === 'down' || member.refused || member.refusedThere) return DOWN
    return member.ejected || member.ejectedThere ? EJECTED : WELL
  }

  #apply(member: Standing): void {
    const { id, grade, tier } = member
    member.up = tier === this.#tier && (grade === WELL || (this.#open && grade !== OUT_BY_ORDER))
    if (member.up) this.out.delete(id)
    else this.out.add(id)
    if (member.up || grade === OUT_BY_ORDER) this.ill.delete(id)
    else this.ill.add(id)
  }
}
