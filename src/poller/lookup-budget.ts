import { getEnvironmentData, setEnvironmentData, workerData } from 'node:worker_threads'

/**
 * Most lookups at a time, over all threads. Each holds one of the four threads that libuv has for the whole process for as
 * long as DNS takes, and can't be given up: two are left to the application.
 */
export const LOOKUPS_AT_ONCE = 2

const KEY = 'idlest:lookups'

/** What a polling thread is given, so that what it holds can be given back when it ends. */
export interface HeldLookups {
  /** How many lookups it has under way. */
  readonly heldLookups: SharedArrayBuffer
}

/** Lookups that may be under way at a time, over all threads that share a count. */
export class LookupBudget {
  readonly #all: Int32Array
  readonly #held: Int32Array

  /**
   * @param all one word, of all threads
   * @param held one word, of this thread
   */
  constructor(all: SharedArrayBuffer, held: SharedArrayBuffer) {
    this.#all = new Int32Array(all)
    this.#held = new Int32Array(held)
  }

  /** Whether one more may begin; it is counted then. */
  take(): boolean {
    // First what this thread holds: where it ends in between, one too many is given back, rather than one lost for ever.
    Atomics.add(this.#held, 0, 1)
    for (;;) {
      const count = Atomics.load(this.#all, 0)
      if (count >= LOOKUPS_AT_ONCE) break
      if (Atomics.compareExchange(this.#all, 0, count, count + 1) === count) return true
    }
    Atomics.sub(this.#held, 0, 1)
    return false
  }

  /** One has ended. */
  giveBack(): void {
    this.#giveBack(1)
    Atomics.sub(this.#held, 0, 1)
  }

  /** The thread has ended, with whatever it had under way. */
  giveBackAll(): void {
    this.#giveBack(Atomics.exchange(this.#held, 0, 0))
  }

  #giveBack(some: number): void {
    for (;;) {
      const count = Atomics.load(this.#all, 0)
      if (Atomics.compareExchange(this.#all, 0, count, Math.max(0, count - some)) === count) return
    }
  }
}

/** The budget of a thread that holds so many lookups: that of the process, as far as threads were started by idlest or after it. */
export function budgetWith(held: SharedArrayBuffer): LookupBudget {
  return new LookupBudget(ofProcess(), held)
}

/** The budget of this thread. */
export function ownBudget(): LookupBudget {
  const given = (workerData as Partial<HeldLookups> | null | undefined)?.heldLookups
  return budgetWith(given instanceof SharedArrayBuffer ? given : new SharedArrayBuffer(4))
}

// Threads have what the thread that started them had then.
function ofProcess(): SharedArrayBuffer {
  const known = getEnvironmentData(KEY) as unknown
  if (known instanceof SharedArrayBuffer) return known
  const made = new SharedArrayBuffer(4)
  setEnvironmentData(KEY, made)
  return made
}
