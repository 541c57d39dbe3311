// What the processes of the soak tell each other.

/** Two counts of the same thing, made in two ways. */
export interface Balance {
  readonly what: string
  readonly counted: number
  readonly made: number
  /** Most that `counted` may be below `made`. Default 0: they are equal. */
  readonly slack?: number
}

export function balances({ counted, made, slack = 0 }: Balance): boolean {
  return counted <= made && counted >= made - slack
}

/** A look at the process that is soaked. */
export interface Look {
  /** Since it began, ms. */
  readonly at: number
  /** Memory of the process, bytes. */
  readonly rss: number
  /**
   * In use after a collection, bytes: the main thread's heap, what is outside of it, and both of threads that pick and stay,
   * and of the polling thread that stays.
   */
  readonly heap: number
  readonly external: number
  readonly threads: number
  readonly polling: number
  /** The sum of these. */
  readonly used: number
  /** Sums over all balancers and threads. */
  readonly picks: number
  readonly polls: number
  readonly reports: number
  readonly changes: number
  readonly leases: number
  /** Files and sockets open. */
  readonly open: number
}

/** An agent in a process of its own. */
export interface AgentPorts {
  readonly http: number
  readonly grpc: number
  /** It is neither killed nor stopped. */
  readonly steady: boolean
}

/** What the soaked process is given. */
export interface Task {
  readonly agents: readonly AgentPorts[]
  /** Addresses of nodes that do everything wrong, by the transport that they are asked by. */
  readonly faulty: Readonly<Record<string, readonly string[]>>
  /** A path for the table that another process shares. */
  readonly file: string
}

/** What it tells. */
export type FromSoaked =
  | { readonly kind: 'started' }
  | { readonly kind: 'look'; readonly look: Look }
  /** It has let go of all; what the steady agents sent is wanted now. */
  | { readonly kind: 'quiet' }
  | { readonly kind: 'outcome'; readonly outcome: SoakedOutcome }

/** What the soaked process found in the end. */
export interface SoakedOutcome {
  readonly balances: readonly Balance[]
  readonly totals: Readonly<Record<string, number>>
}

/** What it is told: to end; and then how many reports the steady agents sent on their streams. */
export type ToSoaked = { readonly kind: 'end' } | { readonly kind: 'sent'; readonly sent: number }
