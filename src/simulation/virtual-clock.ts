import type { Clock } from '../clock.js'

interface VirtualTimer {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/** A clock that stands still until it is told to go on: for tests and simulations. */
export class VirtualClock implements Clock {
  #now: number
  #order = 0
  readonly #timers = new Set<VirtualTimer>()

  /** @param now where it starts, ms */
  constructor(now = 0) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  setTimeout(run: () => void, ms: number): VirtualTimer {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, run }
    this.#timers.add(timer)
    return timer
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as VirtualTimer)
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.size
  }

  /**
   * Goes on by `ms`, firing the timers on the way in order, each at its own time. Between two of them, and at the end,
   * what waits on promises gets its turn.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    while (this.#fireNext(end)) await settle()
    this.#now = end
  }

  /** Goes on by `ms` at once; timers that fall due fire in order, promises wait. */
  jump(ms: number): void {
    const end = this.#now + ms
    while (this.#fireNext(end));
    this.#now = end
  }

  // False where no timer is due by then.
  #fireNext(end: number): boolean {
    const next = this.#next(end)
    if (next === undefined) return false
    this.#timers.delete(next)
    this.#now = Math.max(this.#now, next.at)
    next.run()
    return true
  }

  #next(end: number): VirtualTimer | undefined {
    let first: VirtualTimer | undefined
    for (const timer of this.#timers) {
      if (timer.at > end) continue
      if (
        first === undefined ||
        timer.at < first.at ||
        (timer.at === first.at && timer.order < first.order)
      ) {
        first = timer
      }
    }
    return first
  }
}

// A macrotask: everything that is ready, also chains of promises of any length, has run after it.
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
