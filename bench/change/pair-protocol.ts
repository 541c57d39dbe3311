import type { RoundResult } from '../run.js'

/** What a checkout answers to each message, whatever is in it. */
export interface RoundMessage {
  readonly round: readonly RoundResult[]
}
