import * as layout from './layout.js'
import type { TableMemory } from './memory.js'
import { decodeReading, encodeReading, type MutableReading } from './reading.js'

const NOBODY = -1

/** Most that an owner's number can be. */
export const MOST_OWNERS = 2 ** layout.VALUE_BITS - 2

/** Why a slot can't be registered: it belongs to another node now, or a thread has it. */
export type Refusal =
  | { readonly kind: 'left' }
  /** `owner`: the number that it registered with; `until`: table time when that lapses, ms. */
  | { readonly kind: 'taken'; readonly owner: number; readonly until: number }

const found: MutableReading = { time: 0, tag: 0, value: 0 }

function registrationIndex(slot: number): number {
  return (layout.slotWord(slot) + layout.REGISTRATION_WORD) / 2
}

/**
 * The right of one thread to write a slot by its own measurements. It lapses unless it is renewed, so that a thread that
 * was killed does not keep it. Held by whoever wrote the slot's word last: any other word there is a registration lost.
 */
export class Registration {
  readonly #memory: TableMemory
  readonly #index: number
  readonly #tag: number
  readonly #owner: number
  #word: bigint
  #withdrawn = false

  private constructor(memory: TableMemory, slot: number, tag: number, owner: number, word: bigint) {
    this.#memory = memory
    this.#index = registrationIndex(slot)
    this.#tag = tag
    this.#owner = owner
    this.#word = word
  }

  /**
   * Registers for a slot that nobody has, or whose owner has let it lapse. Safe on any thread.
   * @param generation the slot generation that the thread was told of
   * @param owner a number that stands for the thread, 0 to `MOST_OWNERS`
   * @param now table time, ms
   * @param until table time when it lapses, ms
   */
  static claim(
    memory: TableMemory,
    slot: number,
    generation: number,
    owner: number,
    now: number,
    until: number,
  ): Registration | Refusal {
    if (!memory.isOf(slot, generation)) return { kind: 'left' }
    const tag = layout.readingTag(generation)
    const word = encodeReading(until, tag, owner)
    const index = registrationIndex(slot)
    for (;;) {
      const before = Atomics.load(memory.readings, index)
      decodeReading(before, found)
      if (found.tag !== tag) return { kind: 'left' }
      if (found.value !== NOBODY && found.time >= now) {
        return { kind: 'taken', owner: found.value, until: found.time }
      }
      if (Atomics.compareExchange(memory.readings, index, before, word) === before) {
        return new Registration(memory, slot, tag, owner, word)
      }
    }
  }

  /** Whether it is still this thread's; one that lapsed is, until another thread registers. */
  get holds(): boolean {
    return !this.#withdrawn && Atomics.load(this.#memory.readings, this.#index) === this.#word
  }

  /** Moves the moment when it lapses. False where it is another's now. */
  renew(until: number): boolean {
    return this.#exchange(encodeReading(until, this.#tag, this.#owner))
  }

  /** Lets go of it: the slot may be registered again at once. False where it is another's now. */
  withdraw(): boolean {
    const held = this.#exchange(encodeReading(0, this.#tag, NOBODY))
    this.#withdrawn = true
    return held
  }

  #exchange(word: bigint): boolean {
    const { readings } = this.#memory
    if (this.#withdrawn) return false
    if (Atomics.compareExchange(readings, this.#index, this.#word, word) !== this.#word) return false
    this.#word = word
    return true
  }
}

/** Empties a slot's registration for its next owner. */
export function clearRegistration(memory: TableMemory, slot: number, generation: number): void {
  const none = encodeReading(0, layout.readingTag(generation), NOBODY)
  Atomics.store(memory.readings, registrationIndex(slot), none)
}
