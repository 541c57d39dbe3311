import { type Algorithm, isLive } from '../algorithms/algorithm.js'
import { EngineError } from '../errors.js'
import type { TableMemory } from '../table/memory.js'
import type { Engine, EngineCore, MemberArrays, View } from './engine.js'

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
  /** Makes the core read events from this memory: at each pick, and when `takeEvents` is called. */
  listen(events: Uint8Array): void
  takeEvents(): void
  rewind(kept: number): void
  pickExcluding(excluded: Uint32Array): number
  fillShares(shares: Float64Array): void
}

/** What the addon exports. */
export interface NativeBinding {
  /** Version of the interface: `ABI`. Takes nothing and does nothing, so it is also the floor of a call. */
  abi(): number
  readonly Core: new (
    view: Uint8Array,
    algorithm: Algorithm,
    seedLow: number,
    seedHigh: number,
  ) => NativeCoreBinding
}

/** Events that wait for a pick, at most. */
const MOST_EVENTS = 64

/** What an event tells, as `crates/node/src/events.rs` has it. */
const SENT = 0
const ENDED = 1
const FAILED = 2

class NativeCore implements EngineCore {
  readonly name = 'native'
  readonly live: boolean
  readonly learns: boolean
  readonly #memory: TableMemory
  readonly #core: NativeCoreBinding
  readonly #pick: () => number
  readonly #events: { readonly count: Uint32Array; readonly values: Float64Array } | undefined
  #bytes: Uint8Array

  constructor(
    binding: NativeBinding,
    memory: TableMemory,
    algorithm: Algorithm,
    seed: readonly [number, number],
  ) {
    this.live = isLive(algorithm)
    this.learns = algorithm.kind === 'adaptive'
    this.#memory = memory
    this.#bytes = memory.bytes()
    this.#core = new binding.Core(this.#bytes, algorithm, seed[0], seed[1])
    this.#pick = this.#core.picker()
    if (this.learns) {
      const buffer = new SharedArrayBuffer(8 * (1 + 4 * MOST_EVENTS))
      this.#events = { count: new Uint32Array(buffer, 0, 1), values: new Float64Array(buffer) }
      this.#core.listen(new Uint8Array(buffer))
    }
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

  // Kept in memory that the addon reads at the next pick: a call for each would cost more than the pick.
  #tell(index: number, kind: number, left: number, latency: number): void {
    const events = this.#events
    if (events === undefined) return
    if (events.count[0] === MOST_EVENTS) this.#core.takeEvents()
    const at = 1 + 4 * (events.count[0] as number)
    events.values[at] = index
    events.values[at + 1] = kind
    events.values[at + 2] = left
    events.values[at + 3] = latency
    ;(events.count[0] as number)++
  }

  sent(index: number): void {
    this.#tell(index, SENT, 0, 0)
  }

  ended(index: number, left: number, ok: boolean, latency: number): void {
    this.#tell(index, ok ? ENDED : FAILED, left, latency)
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
    createCore(memory, algorithm, seed) {
      try {
        return new NativeCore(binding, memory, algorithm, seed)
      } catch (cause) {
        throw new EngineError(`the native engine refused the table or the algorithm: ${String(cause)}`, cause)
      }
    },
  }
}
