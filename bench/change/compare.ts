import { type CaseResult, keyOf } from '../case.js'
import { digits, spread } from '../numbers.js'
import { table } from '../page/markdown.js'
import type { Spread } from '../statistics.js'

/** What became of a case. Noisy: beyond the threshold, but not beyond what its rounds differ by. */
export type Verdict = 'slower' | 'faster' | 'noisy' | 'same' | 'new' | 'gone'

export interface Change {
  /** The case. */
  readonly key: string
  readonly verdict: Verdict
  /** To the floor, before and after. */
  readonly base?: Spread
  readonly head?: Spread
  /** How many times as long it takes. */
  readonly times?: number
}

/** How many times as long is too long, unless told otherwise. */
export const THRESHOLD = 1.25

/** A case and what it came to. */
export interface Compared {
  readonly key: string
  readonly floors: Spread
}

/** The cases of a run; those that were measured without a floor can't be compared. */
export function comparedOf(cases: readonly CaseResult[]): Compared[] {
  return cases.flatMap((one) => (one.floors === undefined ? [] : [{ key: keyOf(one), floors: one.floors }]))
}

/**
 * Compares two runs by what their cases come to in floors. A case is slower where its median is beyond the threshold, and
 * nine of ten of its rounds took longer than nine of ten before: where both ranges overlap, it is noise.
 * @param threshold 1.25: a quarter more
 */
export function compareCases(
  base: readonly Compared[],
  head: readonly Compared[],
  threshold: number = THRESHOLD,
): Change[] {
  const before = new Map(base.map(({ key, floors }) => [key, floors]))
  const after = new Map(head.map(({ key, floors }) => [key, floors]))
  return [...new Set([...before.keys(), ...after.keys()])].map((key) => {
    const [old, now] = [before.get(key), after.get(key)]
    if (old === undefined) return { key, verdict: 'new', ...(now !== undefined && { head: now }) }
    if (now === undefined) return { key, verdict: 'gone', base: old }
    return {
      key,
      verdict: verdictOf(old, now, threshold),
      base: old,
      head: now,
      times: now.median / old.median,
    }
  })
}

function verdictOf(base: Spread, head: Spread, threshold: number): Verdict {
  const times = head.median / base.median
  if (times > threshold) return head.p10 > base.p90 ? 'slower' : 'noisy'
  if (times < 1 / threshold) return head.p90 < base.p10 ? 'faster' : 'noisy'
  return 'same'
}

/** Whether something got slower. */
export function hasSlowed(changes: readonly Change[]): boolean {
  return changes.some(({ verdict }) => verdict === 'slower')
}

const TOLD: readonly Verdict[] = ['slower', 'noisy', 'faster', 'gone', 'new']

/** All that changed, in Markdown, what got slower first; and how many did not. */
export function changesTable(changes: readonly Change[], threshold: number): string {
  const rows = TOLD.flatMap((verdict) =>
    changes.filter((change) => change.verdict === verdict).sort((a, b) => (b.times ?? 0) - (a.times ?? 0)),
  )
  const of = (verdict: Verdict) => changes.filter((change) => change.verdict === verdict).length
  const lines = [
    `Of ${changes.length} cases ${of('slower')} got slower by more than ${digits(threshold)} times and beyond their noise, ${of('faster')} faster, ${of('same')} are the same; ${of('noisy')} differ by no more than their rounds do.`,
  ]
  if (rows.length > 0) {
    const cells = rows.map(({ key, verdict, base, head, times }) => [
      key,
      verdict === 'slower' ? '**slower**' : verdict,
      times === undefined ? '' : digits(times),
      base === undefined ? '' : spread(base),
      head === undefined ? '' : spread(head),
    ])
    const heads = ['case', '', 'times', 'base, in floors', 'head, in floors']
    lines.push('', table(heads, cells, 2))
  }
  return lines.join('\n')
}
