import { type Algorithm, thinningOf, weightsOf } from '../algorithms/registry.js'
import type { WeightOf } from '../algorithms/weights.js'
import type { Generator } from '../engine/portable/generator.js'
import { inFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import type { Member } from './member.js'

/** What is known of the members as they are drawn from. */
export interface DrawnFrom {
  /** What the algorithm takes each member for, by index. */
  readonly values: Float64Array
  /** Members that the algorithm draws from, as of its last look at the table. */
  readonly band: number
  /** Steps when these change. */
  readonly revision: number
}

/** How the reported weights of members come to count in the picks of an algorithm that does not know them. */
export interface Parts {
  /**
   * Whether a member that chance has passed over may be drawn again in the same pick. Then shares come out in proportion to
   * the weights. It must not be where the algorithm would draw the same member again and again until chance lets it pass.
   * @param up indices of those that may be picked: it, and at least one other
   */
  mayComeAgain(index: number, members: readonly Member[], up: readonly number[], from: DrawnFrom): boolean
  /**
   * Whether a member that was drawn, and would be picked, has had its part: a member that is passed over has less in flight,
   * and algorithms that go by that draw it all the more often, so that chance alone would thin nothing.
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

/** How weights come to count for an algorithm. */
export function partsOf(algorithm: Algorithm, memory: TableMemory, generator: Generator): Parts {
  switch (thinningOf(algorithm)) {
    case 'again':
      return new PartsByChance(() => true)
    case 'band':
      return new PartsByChance((_index, _up, { band }) => band > 1)
    case 'compared':
      return new PartsByChance((index, up, { values }) => {
        const other = anotherOf(index, up, generator)
        return (values[index] as number) >= (values[other] as number)
      })
    case 'inFlight':
      return new PartsOfFlights(memory, generator, weightsOf(algorithm))
    case 'cost':
      return new PartsOfPicks()
    case 'excluded':
      return new PartsByChance(() => false)
  }
}

/** Another member than this, by chance. */
function anotherOf(index: number, up: readonly number[], generator: Generator): number {
  const place = generator.below(up.length - 1)
  return (up[place] === index ? up.at(-1) : up[place]) as number
}

/** Chance alone is enough. */
class PartsByChance implements Parts {
  readonly #again: (index: number, up: readonly number[], from: DrawnFrom) => boolean

  constructor(again: (index: number, up: readonly number[], from: DrawnFrom) => boolean) {
    this.#again = again
  }

  mayComeAgain(index: number, _members: readonly Member[], up: readonly number[], from: DrawnFrom): boolean {
    return this.#again(index, up, from)
  }

  hasHad(): boolean {
    return false
  }

  picked(): void {}

  reweigh(): void {}
}

/** A member may have its share of what another one, named by chance, has in flight, and one more; rounded by chance. */
class PartsOfFlights implements Parts {
  readonly #memory: TableMemory
  readonly #generator: Generator
  readonly #weightOf: WeightOf

  constructor(memory: TableMemory, generator: Generator, weightOf: WeightOf) {
    this.#memory = memory
    this.#generator = generator
    this.#weightOf = weightOf
  }

  // Drawn because it has less in flight than others, it would be drawn again.
  mayComeAgain(index: number, members: readonly Member[], up: readonly number[]): boolean {
    const member = members[index] as Member
    const other = members[anotherOf(index, up, this.#generator)] as Member
    const load = (this.#flights(member) + 1) * this.#weightOf(other.id)
    return load >= (this.#flights(other) + 1) * this.#weightOf(member.id)
  }

  hasHad(index: number, members: readonly Member[], up: readonly number[]): boolean {
    const member = members[index] as Member
    const flights = this.#flights(member)
    if (flights === 0) return false
    const other = members[anotherOf(index, up, this.#generator)] as Member
    const most = (this.#claim(member) / this.#claim(other)) * (this.#flights(other) + 1)
    return flights + this.#generator.next() / 2 ** 32 >= most
  }

  picked(): void {}

  reweigh(): void {}

  // The algorithm goes by fixed weights already, so a member is to have its part of what it has by these.
  #claim(member: Member): number {
    return claimOf(member) * this.#weightOf(member.id)
  }

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

  mayComeAgain(): boolean {
    return false
  }

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
