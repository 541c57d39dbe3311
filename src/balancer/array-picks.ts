import type { PortableDefinition } from '../algorithms/definition.js'
import {
  type Algorithm,
  arrayAlgorithmOf,
  definitionOf,
  type EngineAlgorithm,
  excludingMissing,
  isLive,
  isWeighted,
  needsOf,
  weightsOf,
} from '../algorithms/registry.js'
import type { WeightOf } from '../algorithms/weights.js'
import type { Clock } from '../clock.js'
import { type Engine, FACT_FRESH, type MemberArrays, NOT_ELIGIBLE } from '../engine/engine.js'
import { MISSING, OUT } from '../engine/portable/band.js'
import { Flights } from '../engine/portable/flights.js'
import { Generator } from '../engine/portable/generator.js'
import type { Dice, Plan } from '../engine/portable/plan.js'
import { OptionError } from '../errors.js'
import { NO_SLOT } from '../table/layout.js'
import type { TableBuffer, TableMemory } from '../table/memory.js'
import { BoundArray, NO_PLAN } from './bound-array.js'
import { CoreView, glimpseOfGeneration } from './core-view.js'
import type { Place } from './member.js'
import { arraysOf } from './member-arrays.js'
import { idOf, type NodeLike } from './node.js'
import { ARRAY_TURN, SharedTurn, SharedTurnPlan } from './shared-turn.js'
import type { Standings } from './standings.js'

/** Picks from a bound array between two looks at the whole of it. */
const PICKS_A_LOOK = 1024

/** Picks from arrays that are not bound between two looks at the clock. */
const PICKS_A_CLOCK = 64

/** Arrays that are remembered, to see whether they come again. */
const REMEMBERED = 4

/** Which nodes have a place in the table. */
export interface Directory {
  /** Steps at each change. */
  readonly version: number
  places(): Iterable<Place>
}

export interface ArrayPicksOptions {
  readonly engine: Engine
  readonly memory: TableMemory
  readonly directory: Directory
  readonly algorithm: Algorithm
  /** Where turns are taken, for algorithms that share them. */
  readonly turns: TableBuffer | undefined
  /** The id of the local node, for algorithms that pick it. */
  readonly self: string | undefined
  readonly seed: readonly [number, number]
  /** The id of this thread. */
  readonly thread: number
  readonly clock: Clock
  readonly exact: boolean
  /** Throws where picks are no longer allowed. */
  readonly check: () => void
  /** Which ids may not be picked though they are listed. Call `invalidate` when it changes. */
  readonly standings: Pick<Standings, 'out' | 'ill'>
  /** Told of the ids of an array each time that the whole of it is looked at. */
  readonly onShown: ((id: string) => void) | undefined
}

/** Picks from arrays that the caller passes: `select(nodes)`. */
export interface ArrayPicker {
  /** The index of the picked element, or -1 where none may be picked. Throws BadNodeError. */
  select(nodes: readonly NodeLike[]): number
  /** Makes the next pick look at everything anew. */
  invalidate(): void
  close(): void
}

/**
 * Picks from arrays by the algorithms of the engines. The engine keeps a plain copy of the fresh readings of
 * all nodes of the table, made at each publication; what is left of a pick is a few plain reads, where crossing into
 * native code would cost more than it saves. So both engines share this part.
 *
 * An array that is passed again is bound: its band is computed once a publication, and a pick checks that array,
 * length and drawn element are the same; every 1,024 picks all elements are checked. Four arrays are remembered.
 */
export class ArrayPicks implements ArrayPicker {
  // Plain fields: `select` is the hot path.
  private bound: BoundArray | undefined
  private readonly header: Int32Array
  private readonly dice: Dice
  private readonly live: CoreView
  private readonly options: ArrayPicksOptions
  private readonly algorithm: EngineAlgorithm
  private readonly definition: PortableDefinition<EngineAlgorithm>
  private readonly turn: SharedTurn | undefined
  private readonly self: string | undefined
  // An object without prototype: for strings that were seen before it is a third faster than a Map.
  private positions: Record<string, number | undefined> = Object.create(null)
  private places: MemberArrays
  private readonly noFlights: Flights
  private readonly weightOf: WeightOf
  private readonly weighted: boolean
  private version = -1
  // The arrays seen last, a ring; bound from the second time on.
  private readonly recent: (readonly NodeLike[] | undefined)[] = new Array(REMEMBERED).fill(undefined)
  private readonly directory: Directory
  private readonly bounds: (BoundArray | undefined)[] = new Array(REMEMBERED).fill(undefined)
  private oldest = 0
  // What an array that is not bound was last picked from, where the sequence depends on it.
  private unbound: Plan = NO_PLAN
  private untilClock = 0
  private raw = new Float64Array(16)
  private weights = new Float64Array(0)
  private band = new Uint32Array(16)

  constructor(options: ArrayPicksOptions) {
    const { engine, memory, seed, clock, exact, turns } = options
    const algorithm = arrayAlgorithmOf(options.algorithm)
    this.options = options
    this.algorithm = algorithm
    this.definition = definitionOf(algorithm).portable as PortableDefinition<EngineAlgorithm>
    this.turn = turns && new SharedTurn(turns, ARRAY_TURN)
    this.self = needsOf(options.algorithm).self ? options.self : undefined
    this.directory = options.directory
    this.header = memory.header
    this.weightOf = weightsOf(algorithm)
    this.weighted = isWeighted(algorithm)
    this.places = arraysOf([], this.weightOf)
    this.noFlights = new Flights(memory, new Uint32Array(0), new Uint32Array(0))
    const generator = new Generator(seed)
    this.dice = { generator, turn: generator.next() }
    this.live = new CoreView({
      // It only tells readings: which of them are fresh, and their values.
      core: engine.createCore(memory, excludingMissing(algorithm), seed),
      memory,
      clock,
      exact,
      source: {
        membersChanged: () => this.version !== options.directory.version,
        memberArrays: () => this.takeDirectory(),
      },
    })
  }

  /** The index of the picked element, -1 where none may be picked, or an `unknownDraw`. Throws BadNodeError. */
  select(nodes: readonly NodeLike[]): number {
    const bound = this.bound
    if (
      bound !== undefined &&
      bound.array === nodes &&
      bound.left > 0 &&
      nodes.length === bound.length &&
      glimpseOfGeneration(this.header) === this.live.generation
    ) {
      bound.left--
      const index = bound.plan.draw(bound.dice)
      if (nodes[index] === bound.elements[index]) return index
      // Not what it was: the draw is repeated after a look at the whole array.
      this.bound = undefined
    }
    return this.slowSelect(nodes)
  }

  /** Makes the next pick look at everything anew. */
  invalidate(): void {
    this.bound = undefined
    this.live.invalidate()
  }

  close(): void {
    this.live.close()
    this.bound = undefined
    this.recent.fill(undefined)
    this.bounds.fill(undefined)
  }

  private slowSelect(nodes: readonly NodeLike[]): number {
    this.options.check()
    if (!Array.isArray(nodes)) throw new OptionError('nodes', nodes, 'an array of nodes')
    if (nodes.length === 0) return -1
    const place = this.placeOf(nodes)
    this.bringUpToDate(place >= 0)
    if (place >= 0) return this.selectBound(nodes, place)
    this.remember(nodes)
    this.readInto(nodes)
    return this.drawOnce(nodes)
  }

  private selectBound(nodes: readonly NodeLike[], place: number): number {
    let bound = this.bounds[place]
    if (bound === undefined || !bound.isUnchanged()) {
      bound = this.bounds[place] = new BoundArray(nodes, this.dice)
    }
    if (bound.revision !== this.live.revision) {
      this.readInto(bound.ids)
      const before = bound.plan
      bound.plan = this.planFor(bound.ids)
      if (bound.plan.startAfter !== undefined) {
        // A sequence of its own: steps in another array's would give heavy nodes more than their share.
        if (bound.dice === this.dice) bound.dice = { ...this.dice }
        bound.plan.startAfter(before, bound.dice)
      }
      bound.revision = this.live.revision
    }
    if (bound.plan.length === 0) return -1
    this.bound = bound
    bound.left = PICKS_A_LOOK - 1
    return bound.plan.draw(bound.dice)
  }

  // A loop over four is faster than indexOf, which is a call.
  private placeOf(nodes: readonly NodeLike[]): number {
    const { recent } = this
    for (let place = 0; place < REMEMBERED; place++) if (recent[place] === nodes) return place
    return -1
  }

  private remember(nodes: readonly NodeLike[]): void {
    this.recent[this.oldest] = nodes
    this.bounds[this.oldest] = undefined
    this.oldest = (this.oldest + 1) % REMEMBERED
  }

  // For arrays that are not bound the clock is looked at now and then; between, a timer marks the view as out of date.
  private bringUpToDate(isLook: boolean): void {
    const lookAtClock = isLook || --this.untilClock <= 0
    if (lookAtClock) this.untilClock = PICKS_A_CLOCK
    else if (
      glimpseOfGeneration(this.header) === this.live.generation &&
      this.version === this.directory.version
    )
      return
    if (this.live.isStale(lookAtClock)) this.live.refresh()
  }

  // One draw from the readings in `raw`, without keeping what it was made from.
  private drawOnce(nodes: readonly NodeLike[]): number {
    const length = this.definition.fillBand?.(this.algorithm, this.raw, nodes.length, this.band)
    if (length !== undefined) {
      return length === 0 ? -1 : (this.band[this.dice.generator.below(length)] as number)
    }
    const plan = this.planFor(nodes)
    if (plan.startAfter !== undefined) {
      plan.startAfter(this.unbound, this.dice)
      this.unbound = plan
    }
    return plan.length === 0 ? -1 : plan.draw(this.dice)
  }

  // What to draw from, from the readings in `raw`.
  private planFor(nodes: readonly NodeLike[]): Plan {
    const plan = this.definition.plan(this.algorithm, {
      raw: this.raw,
      count: nodes.length,
      flights: this.flightsOf(nodes),
      weights: this.weights,
      thread: this.options.thread,
    })
    return this.turn === undefined ? plan : new SharedTurnPlan(plan, this.turn)
  }

  // Where to look for what these nodes have in flight, for algorithms that do.
  private flightsOf(nodes: readonly NodeLike[]): Flights {
    const { memory } = this.options
    if (!isLive(this.algorithm)) return this.noFlights
    const slots = new Uint32Array(nodes.length).fill(NO_SLOT)
    const generations = new Uint32Array(nodes.length)
    for (const [i, node] of nodes.entries()) {
      const position = this.positions[idOf(node)]
      if (position === undefined) continue
      slots[i] = this.places.slots[position] as number
      generations[i] = this.places.generations[position] as number
    }
    return new Flights(memory, slots, generations)
  }

  // Fills `raw` with what is known of these nodes.
  private readInto(nodes: readonly NodeLike[]): void {
    const count = nodes.length
    if (this.raw.length < count) this.makeRoom(count)
    this.readAll(nodes, false)
    // Where nobody else is among them, those that are ill are picked.
    if (this.options.standings.ill.size > 0 && this.raw.subarray(0, count).every((value) => value === OUT)) {
      this.readAll(nodes, true)
    }
    if (this.self !== undefined) this.keepSelf(nodes, this.self)
  }

  private readAll(nodes: readonly NodeLike[], isOpen: boolean): void {
    const count = nodes.length
    const { standings, onShown } = this.options
    const { out, ill } = standings
    const { values, facts } = this.live.view
    const { raw, positions } = this
    const anyFresh = (facts[FACT_FRESH] as number) > 0
    const anyOut = out.size > 0
    for (let i = 0; i < count; i++) {
      const node = nodes[i] as NodeLike
      let id = typeof node === 'string' ? node : node?.id
      const position = typeof id === 'string' ? positions[id] : undefined
      // Only what is not known is checked: the table's ids have been.
      if (position === undefined) id = idOf(node)
      if (onShown !== undefined) onShown(id)
      const value = position === undefined || !anyFresh ? NOT_ELIGIBLE : (values[position] as number)
      const isOut = anyOut && out.has(id) && !(isOpen && ill.has(id))
      raw[i] = isOut ? OUT : value === NOT_ELIGIBLE ? MISSING : value
    }
    if (this.weighted) this.weigh(nodes)
  }

  // Leaves the local node alone, where it may be picked.
  private keepSelf(nodes: readonly NodeLike[], self: string): void {
    const { raw } = this
    const place = nodes.findIndex((node, i) => raw[i] !== OUT && idOf(node) === self)
    if (place < 0) return
    const value = raw[place] as number
    raw.fill(OUT, 0, nodes.length)
    raw[place] = value
  }

  // A loop of its own, for the sake of those that have no weights.
  private weigh(nodes: readonly NodeLike[]): void {
    this.weights = Float64Array.from(nodes, (node) => this.weightOf(idOf(node)))
    for (const [i, weight] of this.weights.entries()) if (weight === 0) this.raw[i] = OUT
  }

  private makeRoom(count: number): void {
    this.raw = new Float64Array(count)
    this.band = new Uint32Array(count)
  }

  private takeDirectory(): MemberArrays {
    const { directory } = this.options
    const places = [...directory.places()]
    this.positions = Object.create(null)
    for (const [i, place] of places.entries()) this.positions[place.id] = i
    this.version = directory.version
    this.places = arraysOf(places, this.weightOf)
    return this.places
  }
}
