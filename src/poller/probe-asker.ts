import type { Entry } from '../table/table.js'
import type { Answer } from './answer.js'

/** Asks single nodes between the cycles. */
export interface ProbeAsker {
  /** The nodes that may be asked from now on; what was kept for others goes. */
  setMembers(entries: readonly Entry[]): void
  /**
   * Asks one node; not again before it has settled. Never throws. `settle` is called once, by the time-out whatever
   * the node does, but not once the asker is closed; it may be called before this returns.
   */
  ask(entry: Entry, settle: (answer: Answer) => void): void
  close(): void
}
