import type { Clock, TimerHandle } from '../clock.js'
import { inFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import type { Member } from './member.js'

/** Other threads' releases are not told of, so they are looked for, ms. */
const LOOK_EVERY = 50

/** Those who wait until a draining member has nothing in flight. */
export class Drains {
  readonly #memory: TableMemory
  readonly #clock: Clock
  readonly #waiting = new Map<Member, (() => void)[]>()
  #timer: TimerHandle
  // Whether anyone waits: a look at each release, which the size of a map is too dear for.
  #anyone = false

  constructor(memory: TableMemory, clock: Clock) {
    this.#memory = memory
    this.#clock = clock
  }

  /** Resolves when the member has nothing in flight, or is let go. */
  wait(member: Member): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(member)
      if (waiters === undefined) this.#waiting.set(member, [resolve])
      else waiters.push(resolve)
      this.#anyone = true
      this.look(member)
      this.#arm()
    })
  }

  /** Looks whether this member has nothing in flight now. */
  look(member: Member): void {
    if (this.#anyone && inFlight(this.#memory, member.slot, member.generation) === 0) this.letGo(member)
  }

  /** Ends the wait for a member: it left. */
  letGo(member: Member): void {
    const waiters = this.#waiting.get(member)
    this.#waiting.delete(member)
    this.#anyone = this.#waiting.size > 0
    for (const resolve of waiters ?? []) resolve()
    if (this.#waiting.size === 0) this.#disarm()
  }

  close(): void {
    for (const member of [...this.#waiting.keys()]) this.letGo(member)
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      for (const member of [...this.#waiting.keys()]) this.look(member)
      this.#arm()
    }, LOOK_EVERY)
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
