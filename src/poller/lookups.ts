import { lookup as dnsLookup, type LookupAddress, type LookupAllOptions, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Clock, TimerHandle } from '../clock.js'
import { processClock } from '../process-clock.js'
import { type LookupBudget, ownBudget } from './lookup-budget.js'

/** Of those of this thread, the ones of names that lately took longer than `SLOW` or failed: others need not wait for them. */
const SLOW_AT_ONCE = 1

/** A lookup that takes this long, ms, is slow. */
const SLOW = 1_000

/** How long a socket waits for an address, ms. */
const PATIENCE = 10_000

/** How soon to try again, ms, while other threads have all lookups that may be under way. */
const AGAIN = 20

/** How long addresses are good for, ms: agents that are connected to anew in each cycle share them. */
const GOOD_FOR = 5_000

/** Most names that something is remembered of. */
const MOST_NAMES = 10_000

type Callback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** Looks up all addresses of a name, as `dns.lookup` with the option `all` does. */
export type ResolveAll = (name: string, options: LookupAllOptions, callback: Callback) => void

/** One name that is looked up, or waits for that. */
interface Pending {
  readonly key: string
  readonly name: string
  readonly options: LookupAllOptions
  readonly waiting: Map<Callback, TimerHandle>
}

/**
 * Looks names up for sockets as `dns.lookup` does, but one lookup of a name at a time, and two of all names over all polling
 * threads. While DNS hangs, lookups neither pile up nor take the threads that the application needs for its own.
 */
export class Lookups {
  readonly #clock: Clock
  readonly #resolve: ResolveAll
  readonly #pending = new Map<string, Pending>()
  // Those of the pending ones that have not begun, in the order in which they came.
  readonly #queue = new Set<Pending>()
  readonly #known = new Map<string, { readonly addresses: LookupAddress[]; readonly until: number }>()
  readonly #slow = new Set<string>()
  readonly #budget: LookupBudget
  #running = 0
  #slowRunning = 0
  #again: TimerHandle

  constructor(clock: Clock = processClock, resolve: ResolveAll = dnsLookup, budget = ownBudget()) {
    this.#clock = clock
    this.#resolve = resolve
    this.#budget = budget
  }

  /** What sockets take as their option `lookup`. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    this.#all(name, options, (error, addresses) => {
      const [first] = addresses
      if (error !== null || first === undefined) callback(error ?? noAddress('ENOTFOUND', name), '', 0)
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

  #all(name: string, { all: _, ...rest }: LookupOptions, callback: Callback): void {
    const key = JSON.stringify([name, rest])
    const known = this.#known.get(key)
    if (known !== undefined && this.#clock.now() < known.until) {
      // Sockets expect it after their turn, as of dns.lookup.
      process.nextTick(callback, null, known.addresses)
      return
    }
    const pending = this.#pending.get(key) ?? this.#enqueue(key, name, { ...rest, all: true })
    const timer = this.#clock.setTimeout(() => this.#giveUp(pending, callback), PATIENCE)
    pending.waiting.set(callback, timer)
    this.#startNext()
  }

  #enqueue(key: string, name: string, options: LookupAllOptions): Pending {
    const pending = { key, name, options, waiting: new Map() }
    this.#pending.set(key, pending)
    this.#queue.add(pending)
    return pending
  }

  // What has begun goes on, for whoever asks next.
  #giveUp(pending: Pending, callback: Callback): void {
    pending.waiting.delete(callback)
    if (pending.waiting.size === 0 && this.#queue.delete(pending)) this.#pending.delete(pending.key)
    callback(noAddress('ETIMEOUT', pending.name), [])
  }

  #startNext(): void {
    for (const pending of this.#queue) {
      const isSlow = this.#slow.has(pending.key)
      if (isSlow && this.#slowRunning >= SLOW_AT_ONCE) continue
      if (!this.#budget.take()) {
        this.#tryAgain()
        return
      }
      this.#queue.delete(pending)
      this.#start(pending, isSlow)
    }
  }

  // What ends here starts the next; what ends in another thread is not heard of.
  #tryAgain(): void {
    if (this.#running > 0 || this.#again !== undefined) return
    this.#again = this.#clock.setTimeout(() => {
      this.#again = undefined
      this.#startNext()
    }, AGAIN)
  }

  #start(pending: Pending, isSlow: boolean): void {
    const began = this.#clock.now()
    this.#running++
    if (isSlow) this.#slowRunning++
    this.#resolve(pending.name, pending.options, (error, addresses) => {
      this.#running--
      this.#budget.giveBack()
      if (isSlow) this.#slowRunning--
      this.#remember(pending.key, error === null ? addresses : undefined, this.#clock.now() - began)
      this.#pending.delete(pending.key)
      for (const [callback, timer] of pending.waiting) {
        this.#clock.clearTimeout(timer)
        callback(error, addresses ?? [])
      }
      this.#startNext()
    })
  }

  #remember(key: string, addresses: LookupAddress[] | undefined, took: number): void {
    if (this.#known.size >= MOST_NAMES) this.#known.clear()
    if (this.#slow.size >= MOST_NAMES) this.#slow.clear()
    if (addresses === undefined || took >= SLOW) this.#slow.add(key)
    else this.#slow.delete(key)
    if (addresses === undefined) this.#known.delete(key)
    else this.#known.set(key, { addresses, until: this.#clock.now() + GOOD_FOR })
  }
}

function noAddress(code: 'ENOTFOUND' | 'ETIMEOUT', name: string): NodeJS.ErrnoException {
  const what = code === 'ETIMEOUT' ? `no address within ${PATIENCE} ms` : 'no address'
  return Object.assign(new Error(`lookup ${code} ${name}: ${what}`), { code, hostname: name })
}

/** The lookups of this thread. */
export const lookups = new Lookups()
