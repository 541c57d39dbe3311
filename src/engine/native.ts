import { type Algorithm, isLive } from '../algorithms/algorithm.js'
import { EngineError } from '../errors.js'
import type { TableMemory } from '../table/memory.js'
import type { Engine, EngineCore, MemberArrays, View } from './engine.js'
import { metricOf } from './metric-of.js'

/** Version of the addon's interface that this file is written for. */
export const ABI = 5

/** A core of the addon: `crates/node/src/core.rs`. */
export interface NativeCoreBinding {
  rebind(view: Uint8Array): void
  setMembers(slots: Uint32Array, generations: Uint32Array, states: Uint8Array, weights: Float64Array): void
  refresh(now: number, values: Float64Array, facts: Float64Array): void
  fill(into: Uint32Array): number
  /** A function for one draw: its index, or -1. Costs far less than a fill. */
  picker(): () => number
  rewind(kept: number): void
  pickExcluding(excluded: Uint32Array): number
  fillShares(shares: Float64Array): void
}

/** An algorithm as the addon takes it, which knows no names. */
export type AlgorithmSpec = Algorithm & {
  /** The place among a slot's metrics of the one that it goes by. */
  readonly place?: number
  /** The id of the thread that picks. */
  readonly thread?: number
}

/** What the addon exports. */
export interface NativeBinding {
  /** Version of the interface: `ABI`. Takes nothing and does nothing, so it is also the floor of a call. */
  abi(): number
  readonly Core: new (
    view: Uint8Array,
    algorithm: AlgorithmSpec,
    seedLow: number,
    seedHigh: number,
  ) => NativeCoreBinding
}

class NativeCore implements EngineCore {
  readonly name = 'native'
  readonly live: boolean
  readonly #memory: TableMemory
  readonly #core: NativeCoreBinding
  readonly #pick: () => number
  #bytes: Uint8Array

  constructor(
    binding: NativeBinding,
    memory: TableMemory,
    algorithm: AlgorithmSpec,
    seed: readonly [number, number],
  ) {
    this.live = isLive(algorithm)
    this.#memory = memory
    this.#bytes = memory.bytes()
    this.#core = new binding.Core(this.#bytes, algorithm, seed[0], seed[1])
    this.#pick = this.#core.picker()
  }

  setMembers(members: MemberArrays): void {
    this.#core.setMembers(members.slots, members.generations, members.states, members.weights)
  }

  refresh(now: number, view: View): void {
    // The table has grown since: its memory is where it was, but the addon knows no more of it than the view covers.
    const bytes = this.#memory.bytes()
    if (bytes !== this.#bytes) {
      this.#core.rebind(bytes)
      this.#bytes = bytes
    }
    this.#core.refresh(now, view.values, view.facts)
  }

  fill(into: Uint32Array): number {
    return this.#core.fill(into)
  }

  pick(): number {
    return this.#pick()
  }

  rewind(kept: number): void {
    this.#core.rewind(kept)
  }

  pickExcluding(excluded: Uint32Array): number {
    return this.#core.pickExcluding(excluded)
  }

  fillShares(shares: Float64Array): void {
    this.#core.fillShares(shares)
  }
}

/** The engine in Rust, by way of a loaded addon. */
export function nativeEngine(binding: NativeBinding): Engine {
  return {
    name: 'native',
    createCore(memory, algorithm, seed, thread = 0) {
      const place = metricOf(memory, algorithm)
      try {
        return new NativeCore(binding, memory, { ...algorithm, place, thread }, seed)
      } catch (cause) {
        throw new EngineError(`the native engine refused the table or the algorithm: ${String(cause)}`, cause)
      }
    },
  }
}
