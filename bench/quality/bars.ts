import type { Outcome } from './run.js'

/** One demand on the recommended algorithm. */
export interface QualityBar {
  readonly what: string
  readonly unit: 'ms' | 'share'
  readonly atMost: number
  /** Undefined where it could not be measured. */
  readonly reached: number | undefined
  readonly met: boolean | undefined
}

/** p99 at most, ms. */
const MOST_P99: Readonly<Record<string, number>> = {
  'slow-1': 90,
  'slow-8': 130,
  'two-slow-1': 120,
  'two-slow-8': 210,
  fleet: 320,
}

/** Part of round robin's p99 that equal nodes may show. */
const OF_ROUND_ROBIN = 0.75

/** The largest share of one of 8 equal nodes in a window, to an equal one. */
const MOST_IN_WINDOW = 1.4

/** The largest share of a node that joined in a window, to an equal one. */
const MOST_JOINED = 2

/** The policy that bars of equal nodes are relative to. */
export const REFERENCE = 'roundRobin'

/** What is wanted of one policy in one scene; `all` are the outcomes of the same run. */
export function barsOf(outcome: Outcome, all: readonly Outcome[]): QualityBar[] {
  const { scene, p99, worst, watched } = outcome
  const most = MOST_P99[scene]
  if (most !== undefined) return [bar('p99', 'ms', most, p99)]
  if (scene === 'equal-1') {
    const reference = all.find((other) => other.scene === scene && other.policy === REFERENCE)
    return [
      reference === undefined
        ? { what: `p99, of ${REFERENCE}`, unit: 'ms', atMost: Number.NaN, reached: p99, met: undefined }
        : bar(`p99, of ${REFERENCE}`, 'ms', reference.p99 * OF_ROUND_ROBIN, p99),
      bar('worst window', 'share', MOST_IN_WINDOW, worst),
    ]
  }
  if (scene.startsWith('equal-')) return [bar('worst window', 'share', MOST_IN_WINDOW, worst)]
  if (scene.startsWith('failing-')) {
    return [
      bar('first window', 'share', 1, watched[0]),
      // Not nothing: it has to be heard of when it is well again.
      bar('later windows', 'share', 0.5, watched.length > 1 ? Math.max(...watched.slice(1)) : undefined),
    ]
  }
  if (scene.startsWith('join-')) {
    return [
      bar('largest window', 'share', MOST_JOINED, watched.length > 0 ? Math.max(...watched) : undefined),
    ]
  }
  return []
}

function bar(
  what: string,
  unit: QualityBar['unit'],
  atMost: number,
  reached: number | undefined,
): QualityBar {
  return { what, unit, atMost, reached, met: reached === undefined ? undefined : reached <= atMost }
}
