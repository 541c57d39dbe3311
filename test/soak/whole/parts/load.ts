import { NoNodesError, UnknownLoadError } from '../../../../dist/index.js'
import type { Balance } from '../words.js'
import { type AnyBalancer, type AnyLease, type Made, noneMade } from './part.js'

/** Longest that a lease is kept, ms. */
const LONGEST = 30

/** Picks and leases of one balancer on this thread, counted. */
export class Load {
  readonly made: Made = noneMade()
  readonly #balancer: AnyBalancer
  readonly #open = new Set<AnyLease>()
  #settled = () => {}
  #twice = 0

  constructor(balancer: AnyBalancer) {
    this.#balancer = balancer
  }

  /** A pick; counted as one, or as one that found nobody. Anything else it throws is thrown on. */
  pick<T>(pick: () => T): T | undefined {
    try {
      const picked = pick()
      this.made.picks++
      return picked
    } catch (error) {
      if (!(error instanceof NoNodesError || error instanceof UnknownLoadError)) throw error
      this.made.none++
      return undefined
    }
  }

  picks(count: number): void {
    for (let i = 0; i < count; i++) this.pick(() => this.#balancer.select())
  }

  /** Leases that are kept for a while, and fail now and then. */
  leases(count: number, failing = 0.05): void {
    for (let i = 0; i < count; i++) {
      const lease = this.pick(() => this.#balancer.acquire())
      if (lease === undefined) continue
      this.made.leases++
      this.#open.add(lease)
      setTimeout(() => this.#release(lease, Math.random() >= failing), Math.random() * LONGEST)
    }
  }

  /** Resolves when all leases are released. */
  async settle(): Promise<void> {
    if (this.#open.size === 0) return
    await new Promise<void>((resolve) => {
      this.#settled = resolve
    })
  }

  balances(): Balance[] {
    const { name, picks, leases } = this.#balancer.stats()
    const { made } = this
    return [
      { what: `${name}: picks`, counted: picks.picks + picks.arrayPicks, made: made.picks },
      { what: `${name}: picks of nobody`, counted: picks.empty + picks.unknown, made: made.none },
      { what: `${name}: leases acquired`, counted: leases.acquired, made: made.leases },
      { what: `${name}: leases released`, counted: leases.released, made: made.leases },
      { what: `${name}: leases failed`, counted: leases.failed, made: made.failed },
      { what: `${name}: leases released twice`, counted: leases.releasedTwice, made: this.#twice },
    ]
  }

  #release(lease: AnyLease, ok: boolean): void {
    if (!ok) this.made.failed++
    lease.release(ok ? { ok, latency: Math.random() * 20 } : { ok, error: new Error('as if') })
    if (Math.random() < 0.01) {
      this.#twice++
      lease.release()
    }
    this.#open.delete(lease)
    if (this.#open.size === 0) this.#settled()
  }
}
