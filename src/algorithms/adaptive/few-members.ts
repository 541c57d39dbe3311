import { type Learner, MEMBER_UP, type MemberArrays } from '../../engine/engine.js'
import { Flights } from '../../engine/portable/flights.js'
import { Generator } from '../../engine/portable/generator.js'
import type { TableMemory } from '../../table/memory.js'
import type { BesideNative, SharingCore } from '../definition.js'
import { GENERATOR_WORD, KNOWN, MOST_SHARED, NUMBERS_WORD, TURN_WORD } from './constants.js'
import { Learned } from './learned.js'

/**
 * Picks by `adaptive` among few members for the native engine, in TypeScript: to score up to 16 of them takes less than the call
 * and what is told by it. What is learned is in memory that both have; the native core takes it over for each call that
 * refreshes, fills or excludes, and for more members makes the picks itself.
 *
 * Measured in one process, the least of 60 rounds, ns (a lease; a pick after a publication): with this 156; 2,992 at 8
 * members and 211; 3,274 at 16. By calls of the addon alone 242; 2,964 and 258; 3,202: a lease is 1.55 and 1.22 times as slow.
 * By the portable engine alone 165; 3,324 and 212; 6,957: refreshes are 1.1 and 2.1 times as slow, and 3 to 9 times at 100 to
 * 10,000 members, so that the native core has to have what is known in any case. Hence picks are here, and refreshes there.
 */
export class FewMembers implements BesideNative {
  /** Members that are up, where picks are made here; else 0. */
  length = 0
  readonly #many: Learner
  readonly #memory: TableMemory
  readonly #words: Uint32Array
  readonly #learned: Learned
  readonly #generator = new Generator([0, 0])
  #members: MemberArrays | undefined
  #band = new Uint32Array(0)
  // Whether what is learned is here.
  #isHere = false

  /** @param many learns where there are more members */
  constructor(core: SharingCore, many: Learner, memory: TableMemory, errorCost: number) {
    const buffer = new SharedArrayBuffer(4 * NUMBERS_WORD + 8 * KNOWN * (MOST_SHARED + 1))
    this.#many = many
    this.#memory = memory
    this.#words = new Uint32Array(buffer)
    this.#learned = new Learned(errorCost)
    this.#learned.known = new Float64Array(buffer, 4 * NUMBERS_WORD)
    core.share(new Uint8Array(buffer))
  }

  /** Says who the members are from the next refresh on. After the native core was told. */
  setMembers(members: MemberArrays): void {
    this.#members = members
    this.#isHere = false
    this.length = 0
  }

  /** Gives what is learned to the native core, before a call that needs it. */
  give(): void {
    if (!this.#isHere) return
    const words = this.#words
    const { s0, s1, s2, s3 } = this.#generator
    words[TURN_WORD] = 1
    words[GENERATOR_WORD] = s0
    words[GENERATOR_WORD + 1] = s1
    words[GENERATOR_WORD + 2] = s2
    words[GENERATOR_WORD + 3] = s3
  }

  /** Takes it back after that call, where there are few members. */
  take(): void {
    if (this.#members !== undefined) this.#start(this.#members)
    if (!this.#isHere) return
    // Signed, as a generator likes them.
    const word = (i: number) => (this.#words[GENERATOR_WORD + i] as number) | 0
    this.#generator.restore({ s0: word(0), s1: word(1), s2: word(2), s3: word(3) })
  }

  /** One draw. Not to be called where `length` is 0. */
  draw(): number {
    const retried = this.#learned.retried()
    return retried >= 0 ? retried : this.#learned.best(this.#band, this.length, this.#generator)
  }

  sent(index: number): void {
    if (this.#isHere) this.#learned.sent(index)
    else this.#many.sent(index)
  }

  setAside(index: number, count: number): void {
    if (this.#isHere) this.#learned.setAside(index, count)
    else this.#many.setAside(index, count)
  }

  ended(index: number, left: number, ok: boolean, latency: number, alone: boolean): void {
    if (this.#isHere) this.#learned.ended(index, left, ok, latency, alone)
    else this.#many.ended(index, left, ok, latency, alone)
  }

  #start({ slots, generations, states }: MemberArrays): void {
    this.#members = undefined
    if (slots.length > MOST_SHARED) return
    this.#isHere = true
    this.#learned.flights = new Flights(this.#memory, slots, generations)
    this.#band = Uint32Array.from(states.keys()).filter((i) => states[i] === MEMBER_UP)
    this.length = this.#band.length
  }
}
