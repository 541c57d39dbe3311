import type { Tally } from './answer.js'
import type { Aside } from './sink.js'
import type { LocalTarget } from './targets.js'

/** Asks a part of a poller's members: on this thread, or in a polling thread. */
export interface Share {
  /** Members. */
  readonly size: number
  /** Whether it has a thread to ask in; one that has none yet is told of members early, so that it starts in good time. */
  readonly attached: boolean
  /** By slot: first the removed ones go, and are not waited for; then the added ones come. */
  change(removed: readonly number[], added: readonly LocalTarget[]): void
  /** Whatever the nodes in these slots tell next counts as new. */
  forget(slots: readonly number[]): void
  /** Resolves when a round need not wait for threads or modules; never rejects. */
  prepare(): Promise<void>
  /**
   * Asks all members at once. Resolves when the round has ended, by the time-out whatever they do; never rejects.
   * Not again before that.
   */
  round(timeout: number): Promise<Tally>
  /** Ends the round in progress and lets go of everything; it can't be used again. */
  close(): Promise<void>
}

/** Takes what shares say beside what rounds come to. */
export interface ShareListener {
  /** So many reports came that nobody waits for any more. */
  onLate(reports: number): void
  onAside(aside: Aside): void
  /** An exception in a polling thread could not be put down to one member. */
  onFault(): void
}
