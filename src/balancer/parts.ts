import { type Algorithm, isByFlights } from '../algorithms/algorithm.js'
import type { Generator } from '../engine/portable/generator.js'
import { inFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import type { Member } from './members.js'

/** What is known of the members as they are drawn from. */
export interface DrawnFrom {
  /** What the algorithm takes each member for, by index. */
  readonly values: Float64Array
  /** Steps when these change. */
  readonly revision: number
}

/**
 * Whether members have had their part of the work. Who is passed over has less in flight, and algorithms that go by that
 * draw it all the more often: chance alone would thin nothing.
 */
export interface Parts {
  /**
   * Whether a member that was drawn, and would be picked, has had its part.
   * @param up indices of those that may be picked: it, and at least one other
   */
  hasHad(index: number, members: readonly Member[], up: readonly number[], from: DrawnFrom): boolean
  /** Takes in that a member was picked. */
  picked(member: Member): void
  /** Takes in that weights changed. */
  reweigh(): void
}

/** What a member is to get by all that is said of its weight, relative to others. */
export function claimOf({ factor, part }: Member): number {
  return factor * part
}

/** What has to be looked at for an algorithm; undefined where chance is enough. */
export function partsOf(algorithm: Algorithm, memory: TableMemory, generator: Generator): Parts | undefined {
  const { kind } = algorithm
  if (kind === 'adaptive') return new PartsOfPicks()
  const goesByFlights = kind === 'leastConnections' || kind === 'prequal' || isByFlights(algorithm)
  return goesByFlights ? new PartsOfFlights(memory, generator) : undefined
}

/** A member may have its share of what another one, named by chance, has in flight, and one more; rounded by chance. */
class PartsOfFlights implements Parts {
  readonly #memory: TableMemory
  readonly #generator: Generator

  constructor(memory: TableMemory, generator: Generator) {
    this.#memory = memory
    this.#generator = generator
  }

  hasHad(index: number, members: readonly Member[], up: readonly number[]): boolean {
    const member = members[index] as Member
    const flights = this.#flights(member)
    if (flights === 0) return false
    const place = this.#generator.below(up.length - 1)
    const other = members[(up[place] === index ? up.at(-1) : up[place]) as number] as Member
    const most = (claimOf(member) / claimOf(other)) * (this.#flights(other) + 1)
    return flights + this.#generator.next() / 2 ** 32 >= most
  }

  picked(): void {}

  reweigh(): void {}

  #flights({ slot, generation }: Member): number {
    return inFlight(this.#memory, slot, generation)
  }
}

/** Picks that a member may save up. */
const MOST_CREDIT = 64

interface Credit {
  amount: number
  /** Picks in all when it was last looked at. */
  at: number
}

/**
 * A member may have its part of the picks by its weight and by what its requests cost: `factor / cost` by the sum of these.
 * That is how `adaptive` shares out the picks where there is much to do.
 */
class PartsOfPicks implements Parts {
  readonly #credits = new WeakMap<Member, Credit>()
  #picks = 0
  #revision = -1
  #sum = 0

  hasHad(
    index: number,
    members: readonly Member[],
    up: readonly number[],
    { values, revision }: DrawnFrom,
  ): boolean {
    const rateOf = (one: number) => claimOf(members[one] as Member) / (values[one] as number)
    if (revision !== this.#revision) {
      this.#revision = revision
      this.#sum = up.reduce((sum, one) => sum + rateOf(one), 0)
    }
    const member = members[index] as Member
    const credit = this.#credits.get(member) ?? { amount: MOST_CREDIT / 2, at: this.#picks }
    const earned = (rateOf(index) / this.#sum) * (this.#picks - credit.at)
    credit.amount = Math.min(MOST_CREDIT, credit.amount + earned)
    credit.at = this.#picks
    this.#credits.set(member, credit)
    return credit.amount < 1
  }

  picked(member: Member): void {
    this.#picks++
    const credit = this.#credits.get(member)
    if (credit !== undefined) credit.amount--
  }

  reweigh(): void {
    this.#revision = -1
  }
}
