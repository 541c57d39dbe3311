import type { Learner, MemberArrays, View } from '../engine/engine.js'
import type { KeyTables } from '../engine/key-tables.js'
import type { Flights } from '../engine/portable/flights.js'
import type { Generator } from '../engine/portable/generator.js'
import type { Plan } from '../engine/portable/plan.js'
import type { KeyNode, KeyTable } from '../keys/key-table.js'
import type { TableMemory } from '../table/memory.js'
import type { CustomPicker } from './custom/options.js'
import type { Explained, ExplainedMember, ExplainOthers, ExplainRules, Unpicked } from './explain.js'
import type { Algorithm, EngineAlgorithm } from './registry.js'

/** What is known of some nodes when a plan of draws is made. Arrays may be longer than `count`. */
export interface Seen {
  /** What `Readings` gave: a figure, `MISSING` or `OUT`. */
  readonly raw: Float64Array
  readonly count: number
  /** What they have in flight. */
  readonly flights: Flights
  /** Their fixed weights, above 0. */
  readonly weights: Float64Array
  /** The id of the thread that picks. */
  readonly thread: number
}

/** Reads the table at each refresh. */
export interface Readings {
  /** Takes over the members; what is known of those that stay is kept. */
  setMembers?(members: MemberArrays): void
  /** Fills `raw` with a figure a member, `MISSING` or `OUT`, and tells how many are fresh and when that is out of date. */
  take(members: MemberArrays, now: number, raw: Float64Array, facts: Float64Array): void
  /** Reports skipped so far because the algorithm can't use them. */
  readonly ignored?: number
}

/** State that an algorithm keeps between refreshes, apart from its readings. */
export interface Kept {
  setMembers(members: MemberArrays, flights: Flights): void
  /** Learns from all that was read at `now`, and changes the view where it says something else than the readings do. */
  refresh(now: number, raw: Float64Array, view: View): void
  /** What to draw from: of all, or of those that are left. */
  plan(raw: Float64Array): Plan
  /** Learns from how leases end. */
  readonly learner?: Learner
  /** See `EngineCore.probed`. */
  probed?(member: number, inFlight: number, latency: number, time: number): number
  /** Draws made at random so far because there were too few entries. */
  readonly atRandom?: number
}

/** The TypeScript implementation of an algorithm. */
export interface PortableDefinition<A> {
  /** What it reads. Throws TableError where the table has no room for a metric. */
  readings(memory: TableMemory, algorithm: A): Readings
  /** What to draw from, where all that counts was read. */
  plan(algorithm: A, seen: Seen): Plan
  /** What the readings count as, as in `View.values`. */
  fillValues(algorithm: A, raw: Float64Array, values: Float64Array): void
  /** For those that keep more than readings. */
  keep?(memory: TableMemory, algorithm: A, generator: Generator): Kept
  /** Whether it draws by turns. The first turn is random. */
  readonly takesTurns?: boolean
  /**
   * Lists those that it draws from with equal chances, where it does just that, and gives their number: for a single draw
   * that needs no plan. Undefined where it draws in another way.
   */
  fillBand?(algorithm: A, raw: Float64Array, count: number, band: Uint32Array): number | undefined
}

/** How picks by key are made. */
export interface KeyedDefinition<A> {
  /** What a node may have in flight, in means; undefined: any number. */
  bound(algorithm: A): number | undefined
  /**
   * Whether keys of a member that is not up walk on just as they would without it: then it stays in the table while it is
   * not up.
   */
  readonly keepsAbsent: boolean
  /** How many places a table of so many nodes has, with this sum of weights. */
  places(algorithm: A, nodes: number, weight: number): number
  /** A table of these nodes, which are in order. Throws TableError where it would be too large. */
  build(algorithm: A, nodes: readonly KeyNode[], tables: KeyTables): KeyTable
  /** The same, without keeping this thread. */
  buildLater(algorithm: A, nodes: readonly KeyNode[], tables: KeyTables): Promise<KeyTable>
}

/** What an algorithm needs of a balancer. */
export interface Needs {
  /** The local node. */
  readonly self?: boolean
  /** Turns that all threads take together. */
  readonly turns?: boolean
  /** The thread on which it was made: it has functions. */
  readonly ownThread?: boolean
}

/** How members are probed as picks are made. */
export interface Probing {
  /** Probes per pick. */
  readonly probes: number
  /** The most answers kept. */
  readonly pool: number
}

/**
 * How weights that nodes report come to count in picks of an algorithm that does not know them: what becomes of a member
 * that was drawn, and which chance passes over.
 *
 * - `again`: the draw is repeated among all, so that picks are in proportion to the weights.
 * - `band`: the same, unless the algorithm draws from one member alone.
 * - `compared`: the same, unless the member's value is lower than that of another, named by chance: it would be drawn again
 *   and again until chance lets it pass.
 * - `inFlight`: the same by what they have in flight; and a member may have its part of what another has in flight.
 * - `cost`: it is excluded; and a member may have its part of the picks by its weight and by what its requests cost.
 * - `excluded`: it is excluded.
 */
export type Thinning = 'again' | 'band' | 'compared' | 'inFlight' | 'cost' | 'excluded'

/** The explain wording of an algorithm. */
export interface ExplainDefinition {
  /** Why a member may be picked that has no reason not to be. */
  grounds(member: ExplainedMember, others: ExplainOthers, rules: ExplainRules): Explained
  /** Why a member that has no share of the draws has none, where it may be picked by all else. */
  reason?(
    member: Pick<ExplainedMember, 'cpu' | 'effective'>,
    others: ExplainOthers,
    rules: ExplainRules,
  ): Unpicked | undefined
  /** Whether members without a fresh report have no share. */
  readonly needsReport?: boolean
}

/** What a snapshot shows of the view's values, beside `effective`. */
export type Shown = 'cost' | 'weight'

/** How live pages head the column of what members count as. */
export interface ValueColumn {
  /** The column's heading. */
  readonly label: string
  /** What it means. */
  readonly about: string
}

/**
 * One algorithm: all that other code knows of it. The exact meaning of its draws, which both engines follow, stands with
 * `portable`.
 */
export interface AlgorithmDefinition<A extends { readonly kind: string } = Algorithm> {
  readonly kind: A['kind']
  /** What the algorithm's function makes beside `kind`. */
  readonly fields: readonly Exclude<keyof A, 'kind'>[]
  /** Whether a value with no other fields is what the function makes: it may have come from another thread. */
  isValid(value: Partial<A>): boolean
  /** The algorithm's function. */
  make(options: never): A
  readonly explain: ExplainDefinition
  /** Default `again`. */
  thinning?(algorithm: A): Thinning
  /** How engines draw; absent where they draw by another one, `engine`. */
  readonly portable?: PortableDefinition<A>
  /** Its options for the native engine: numbers by name. */
  native?(algorithm: A, memory: TableMemory, thread: number): NativeOptions
  /** Whether it learns from how leases end. Default false. */
  readonly learns?: boolean
  /** Picks among few members in place of the native engine, for one that learns. */
  beside?(algorithm: A, core: SharingCore, many: Learner, memory: TableMemory): BesideNative
  /** What an engine does for it; default: itself. */
  engine?(algorithm: A): EngineAlgorithm
  /** How `select(nodes)` picks; default as `engine`. */
  forArrays?(algorithm: A): EngineAlgorithm
  /** Whether picks depend on what changes without a publication, so that they can't be made ahead. Default false. */
  isLive?(algorithm: A): boolean
  needs?(algorithm: A): Needs
  readonly keyed?: KeyedDefinition<A>
  /** The metric that it goes by in place of CPU. */
  metric?(algorithm: A): string | undefined
  /** Whether it compares requests in flight with what is reported of them. */
  comparesFlights?(algorithm: A): boolean
  /** Width of the band that it draws from, percentage points, where it has one. */
  bandWidth?(algorithm: A): number
  /** Whether it leaves out members without a fresh report while others have one. Default false. */
  excludesMissing?(algorithm: A): boolean
  /** The same, but for leaving out members without a fresh report, where it has that option: for a look at which have one. */
  excludingMissing?(algorithm: A): A
  /** What makes the picker of a balancer, where users wrote it; an engine then only says who may be picked. */
  userMade?(algorithm: A): () => CustomPicker
  /** Whether draws may fail because no load is known. */
  mayFail?(algorithm: A): boolean
  probing?(algorithm: A): Probing | undefined
  /** Longest wait before the first poll where `startupJitter` is not given, ms. Default: one interval. */
  readonly startupJitter?: number
  /** The default of `health.polls`. Default 3. */
  readonly unreachableAfter?: number
  readonly variants?: readonly Variant[]
  readonly shows?: Shown
  readonly column?: ValueColumn
}

/** An algorithm with some options, as simulations know it by name. */
export interface Variant {
  readonly name: string
  /** For people, in one line. */
  readonly about: string
  /** @param ttl oldest age of a report that is to count, ms */
  make(ttl: number): Algorithm
}

/** Picks among few members in TypeScript for the native engine, where that takes less than a call. */
export interface BesideNative extends Learner {
  /** Members that are up, where picks are made here; else 0. */
  readonly length: number
  /** Replaces the members from the next refresh on. The native core receives them first. */
  setMembers(members: MemberArrays): void
  /** Gives what is known to the native core, before a call that needs it; and takes it back after that. */
  give(): void
  take(): void
  /** One draw. Not to be called where `length` is 0. */
  draw(): number
}

/** What the native core has to do with that. */
export interface SharingCore {
  share(learned: Uint8Array): void
}

/** An algorithm's options for the native engine. */
export type NativeOptions = Readonly<Record<string, number>>
