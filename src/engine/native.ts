import type { BesideNative, NativeOptions } from '../algorithms/definition.js'
import { definitionOf, type EngineAlgorithm, isLive } from '../algorithms/registry.js'
import { EngineError } from '../errors.js'
import type { FileShape } from '../table/file/layout.js'
import type { TableFileBinding } from '../table/file/table-file.js'
import type { TableMemory } from '../table/memory.js'
import type { OwnFlights } from '../table/own-flights.js'
import type { Engine, EngineCore, Learner, MemberArrays, View } from './engine.js'
import { Events } from './events.js'
import type { RingArrays } from './key-tables.js'

/** A core of the addon: `crates/node/src/core.rs`. */
export interface NativeCoreBinding {
  rebind(view: Uint8Array): void
  setMembers(slots: Uint32Array, generations: Uint32Array, states: Uint8Array, weights: Float64Array): void
  refresh(now: number, values: Float64Array, facts: Float64Array): void
  fill(into: Uint32Array): number
  fillPairs(into: Uint32Array): number
  /** A function for one draw, as `EngineCore.pick`. Costs far less than a fill. */
  picker(): () => number
  probed(member: number, inFlight: number, latency: number, time: number): number
  atRandom(): number
  /** Makes the core share what it learns of few members in this memory. */
  share(learned: Uint8Array): void
  /** Makes the core read events from this memory: at each pick, and when `takeEvents` is called. */
  listen(events: Uint8Array): void
  takeEvents(): void
  rewind(kept: number): void
  pickExcluding(excluded: Uint32Array): number
  fillShares(shares: Float64Array): void
  ignored(): number
}

/** What the addon exports. */
export interface NativeBinding {
  /** Version of the interface: `ABI`. Takes nothing and does nothing, so it is also the floor of a call. */
  abi(): number
  /** Tables for keys: `crates/node/src/key_tables.rs`. */
  buildRing(hashes: Uint32Array, counts: Uint32Array): RingArrays
  buildRingLater(hashes: Uint32Array, counts: Uint32Array): Promise<RingArrays>
  buildMaglev(hashes: Uint32Array, weights: Float64Array, size: number): Uint32Array
  buildMaglevLater(hashes: Uint32Array, weights: Float64Array, size: number): Promise<Uint32Array>
  /** Files as memory: `crates/node/src/file.rs`. */
  readonly TableFile: {
    /** @param first what the first part of a new file begins with */
    open(path: string, shape: FileShape, first: Uint8Array): TableFileBinding
  }
  /** What a thread has in flight: `crates/node/src/own_flights.rs`. */
  readonly OwnFlights: new (
    table: Uint8Array,
    ledger: Uint8Array,
  ) => OwnFlights
  readonly Core: new (
    view: Uint8Array,
    kind: string,
    options: NativeOptions,
    seedLow: number,
    seedHigh: number,
  ) => NativeCoreBinding
}

class NativeCore implements EngineCore {
  readonly name = 'native'
  readonly live: boolean
  readonly learner: Learner | undefined
  readonly #few: BesideNative | undefined
  readonly #memory: TableMemory
  readonly #core: NativeCoreBinding
  readonly #pick: () => number
  #bytes: Uint8Array

  constructor(
    binding: NativeBinding,
    memory: TableMemory,
    algorithm: EngineAlgorithm,
    options: NativeOptions,
    seed: readonly [number, number],
  ) {
    const { learns = false, beside } = definitionOf(algorithm)
    this.live = isLive(algorithm)
    this.#memory = memory
    this.#bytes = memory.bytes()
    this.#core = new binding.Core(this.#bytes, algorithm.kind, options, seed[0], seed[1])
    this.#pick = this.#core.picker()
    const events = learns ? new Events(this.#core) : undefined
    this.#few = events && beside?.(algorithm, this.#core, events, memory)
    this.learner = this.#few ?? events
  }

  setMembers(members: MemberArrays): void {
    this.#few?.give()
    this.#core.setMembers(members.slots, members.generations, members.states, members.weights)
    this.#few?.setMembers(members)
  }

  refresh(now: number, view: View): void {
    // The table has grown since: its memory is where it was, but the addon knows no more of it than the view covers.
    const bytes = this.#memory.bytes()
    if (bytes !== this.#bytes) {
      this.#core.rebind(bytes)
      this.#bytes = bytes
    }
    this.#few?.give()
    this.#core.refresh(now, view.values, view.facts)
    this.#few?.take()
  }

  fill(into: Uint32Array): number {
    this.#few?.give()
    const filled = this.#core.fill(into)
    this.#few?.take()
    return filled
  }

  fillPairs(into: Uint32Array): number {
    return this.#core.fillPairs(into)
  }

  pick(): number {
    const few = this.#few
    return few !== undefined && few.length > 0 ? few.draw() : this.#pick()
  }

  probed(member: number, inFlight: number, latency: number, time: number): number {
    return this.#core.probed(member, inFlight, latency, time)
  }

  atRandom(): number {
    return this.#core.atRandom()
  }

  rewind(kept: number): void {
    this.#core.rewind(kept)
  }

  pickExcluding(excluded: Uint32Array): number {
    this.#few?.give()
    const picked = this.#core.pickExcluding(excluded)
    this.#few?.take()
    return picked
  }

  fillShares(shares: Float64Array): void {
    this.#core.fillShares(shares)
  }

  get ignored(): number {
    return this.#core.ignored()
  }
}

/** The engine in Rust, by way of a loaded addon. */
export function nativeEngine(binding: NativeBinding): Engine {
  return {
    name: 'native',
    keyTables: {
      ring: (hashes, counts) => binding.buildRing(hashes, counts),
      ringLater: (hashes, counts) => binding.buildRingLater(hashes, counts),
      cells: (hashes, weights, size) => binding.buildMaglev(hashes, weights, size),
      cellsLater: (hashes, weights, size) => binding.buildMaglevLater(hashes, weights, size),
    },
    ownFlights: (table, ledger) => new binding.OwnFlights(table, ledger),
    createCore(memory, algorithm, seed, thread = 0) {
      // A table that has no room for a metric says so by itself.
      const options = definitionOf(algorithm).native?.(algorithm, memory, thread) ?? {}
      try {
        return new NativeCore(binding, memory, algorithm, options, seed)
      } catch (cause) {
        throw new EngineError(`the native engine refused the table or the algorithm: ${String(cause)}`, cause)
      }
    },
  }
}
