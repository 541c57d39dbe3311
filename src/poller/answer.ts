import type { ReadReport } from '../report.js'

/** Why a remote could not be read. */
export interface Failure {
  /** `exit`: refused, reset, timed out or closed. `error`: a bad status, size, shape or value. */
  readonly kind: 'exit' | 'error'
  readonly reason: string
}

/** What became of asking one remote. */
export type Answer =
  | {
      readonly kind: 'report'
      readonly report: ReadReport
      /** Clock time, ms. */
      readonly at: number
      /** Names of fields of it that are not known. */
      readonly unknown?: readonly string[]
    }
  /** It tells unasked, and has lately, or it answered well and has nothing to tell yet: nothing to store. */
  | { readonly kind: 'heard' }
  | Failure

/** One remote that failed in a round. */
export interface FailedNode extends Failure {
  readonly node: string
  /** The polling thread failed, not the node: that has a warning of its own. */
  readonly thread?: true
}

/** Counts of members that were asked, and of what became of them. */
export interface AnswerCounts {
  /** Members that were asked. */
  asked: number
  /** Reports that are their nodes' readings now. */
  stored: number
  /** Reports of samples older than the table's. */
  older: number
  /** Members that left while they were asked. */
  left: number
  /** Reports that came when their round had ended, or the poller was closed; dropped. */
  late: number
  /** Reports of nothing that the table keeps. */
  empty: number
  /** Members that are well and had nothing to store: those that tell unasked and have lately, or have no rate yet. */
  heard: number
  /** Members that were not asked, since a report of theirs is more recent than `silentFor`; not among `asked`. */
  fresh: number
}

/** Counts of what came from members unasked. */
export interface PushCounts {
  /** Reports that were stored. */
  stored: number
  /** Reports of samples older than the table's. */
  older: number
  /** Reports of members that had left, or that came when the poller was closed; dropped. */
  left: number
  /** Reports of nothing that the table keeps. */
  empty: number
  /** What was no report, or had parts that mean nothing, such as a state of a later version. */
  bad: number
  /** What came for nodes that are no members, and was not looked at; by each polling thread for those of others too. */
  strangers: number
}

/** What became of the members that were asked in one round. */
export interface Tally extends AnswerCounts {
  /** Members that failed. */
  failed: FailedNode[]
}

export function noAnswers(): AnswerCounts {
  return { asked: 0, stored: 0, older: 0, left: 0, late: 0, empty: 0, heard: 0, fresh: 0 }
}

export function noPushes(): PushCounts {
  return { stored: 0, older: 0, left: 0, empty: 0, bad: 0, strangers: 0 }
}

export function emptyTally(): Tally {
  return { ...noAnswers(), failed: [] }
}

/** Adds counts to a sum of them. */
export function addCounts(sum: AnswerCounts, part: AnswerCounts): void {
  sum.asked += part.asked
  sum.stored += part.stored
  sum.older += part.older
  sum.left += part.left
  sum.late += part.late
  sum.empty += part.empty
  sum.heard += part.heard
  sum.fresh += part.fresh
}

/** Adds counts of what came unasked to a sum of them. */
export function addPushes(sum: PushCounts, part: PushCounts): void {
  sum.stored += part.stored
  sum.older += part.older
  sum.left += part.left
  sum.empty += part.empty
  sum.bad += part.bad
  sum.strangers += part.strangers
}

/** Adds the tally of a part of the members to that of all. */
export function addTally(sum: Tally, part: Tally): void {
  addCounts(sum, part)
  for (const failed of part.failed) sum.failed.push(failed)
}
