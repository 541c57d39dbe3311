import type { Entry } from '../table/table.js'
import type { Tally } from './answer.js'

/** Asks the remote members for their reports and writes what they answer: on this thread, or in the polling one. */
export interface Asker {
  /** The members to ask from now on; those that left are not waited for. */
  setMembers(entries: readonly Entry[]): void
  /** Resolves when a round need not wait for threads or modules; never rejects. */
  prepare(): Promise<void>
  /**
   * Asks all members at once. Resolves when the round has ended, by the time-out whatever they do; never rejects.
   * Not again before that.
   */
  round(timeout: number): Promise<Tally>
  /** Ends the round in progress and lets go of everything; the asker can't be used again. */
  close(): Promise<void>
}
