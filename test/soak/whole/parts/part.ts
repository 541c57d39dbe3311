import type { BalancerStats, Outcome } from '../../../../dist/index.js'
import type { Balance } from '../words.js'

/** What is used of a balancer, whatever its nodes are. */
export interface AnyBalancer {
  readonly name: string
  select(): unknown
  acquire(): AnyLease
  stats(): BalancerStats
  close(): Promise<void>
}

export interface AnyLease {
  release(outcome?: Outcome): void
}

/** What a part counts of what it does. */
export interface Made {
  picks: number
  none: number
  leases: number
  failed: number
}

export function noneMade(): Made {
  return { picks: 0, none: 0, leases: 0, failed: 0 }
}

/** A part of what goes on in the soaked process. */
export interface Part {
  /** Does some work, 50 times a second. */
  turn?(): void
  /** Begins nothing any more, and lets go of all leases. */
  settle(): Promise<void>
  close(): Promise<void>
  /** After that: what was counted, and what was made. */
  balances(): Balance[]
  /** So far, by its own count. */
  readonly made: Made
}
