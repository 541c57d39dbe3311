import type { CaseResult, Doer } from './case.js'
import { ALGORITHM_SIZES, ALGORITHMS, caseOf } from './cases/algorithms.js'
import type { GcResult } from './figures/gc.js'
import type { PollResult } from './figures/poll.js'
import type { WaitsResult } from './figures/waits.js'

/** What else is measured. Absent where it was not. */
export interface Figures {
  readonly gc?: readonly GcResult[]
  readonly tableBytes?: number
  readonly poll?: PollResult
  readonly waits?: readonly WaitsResult[]
}

/** What a number is of, and so how it is written. */
export type BarUnit = 'times' | 'part' | 'ms' | 'MiB' | 'collections'

/** Something that idlest wants to reach. */
export interface Bar {
  readonly what: string
  readonly unit: BarUnit
  readonly atMost: number
  /** Undefined where it could not be measured. */
  readonly reached: number | undefined
  readonly met: boolean | undefined
}

const NS_A_MS = 1e6
const BYTES_A_MIB = 2 ** 20

/** Nodes of the table whose size is measured, and of the publication. */
export const LARGE = 10_000

/** Compares what was measured with what is wanted. */
export function barsOf(results: readonly CaseResult[], figures: Figures = {}): Bar[] {
  const ns = (name: string, engine: Doer, nodes: number): number | undefined =>
    results.find((it) => it.name === name && it.engine === engine && it.nodes === nodes)?.nsPerPick
  const floor = ns('floor', 'native', 0)
  const select8 = ns('select()', 'native', 8)
  const refresh = ns('first select() after', 'native', LARGE)
  const refreshArray = ns('first select(array) after', 'native', LARGE)
  const { gc, tableBytes, poll } = figures
  return [
    bar('native select(), 8 nodes, to the floor', 'times', 1.2, ratio(select8, floor)),
    bar(
      'native select(), 10,000 nodes, to that at 8',
      'times',
      1.2,
      ratio(ns('select()', 'native', LARGE), select8),
    ),
    ...ALGORITHMS.flatMap((measured) =>
      ALGORITHM_SIZES.map((nodes) =>
        bar(
          `native ${caseOf(measured)}, ${nodes.toLocaleString('en')} nodes, to the floor`,
          'times',
          measured.atMost,
          ratio(ns(caseOf(measured), 'native', nodes), floor),
        ),
      ),
    ),
    bar(
      'select(sameArray), 8 nodes, to the floor',
      'times',
      2,
      ratio(ns('select(sameArray)', '-', 8), floor),
    ),
    bar(
      'native balancer.select(sameArray), 8 nodes, to the floor',
      'times',
      2,
      ratio(ns('balancer.select(sameArray)', 'native', 8), floor),
    ),
    bar(
      'select(freshArray), 8 nodes, to the floor',
      'times',
      12,
      ratio(ns('select(freshArray)', '-', 8), floor),
    ),
    bar(
      'native balancer.select(freshArray), 8 nodes, to the floor',
      'times',
      12,
      ratio(ns('balancer.select(freshArray)', 'native', 8), floor),
    ),
    bar(
      'native fill, each decision, to the floor',
      'times',
      0.3,
      ratio(ns('fill(1024)', 'native', 8), floor),
    ),
    bar(
      'native acquire + release, 8 nodes, to the floor',
      'times',
      5,
      ratio(ns('acquire + release', 'native', 8), floor),
    ),
    bar('native select() to the naive way, 8 nodes', 'part', 1 / 5, ratio(select8, ns('naive scan', '-', 8))),
    bar(
      'native select() to the naive way, 1,000 nodes',
      'part',
      1 / 500,
      ratio(ns('select()', 'native', 1_000), ns('naive scan', '-', 1_000)),
    ),
    bar(
      'first select() after publishing 10,000 readings',
      'ms',
      2,
      refresh === undefined ? undefined : refresh / NS_A_MS,
    ),
    bar(
      'first select(array) after publishing 10,000 readings',
      'ms',
      2,
      refreshArray === undefined ? undefined : refreshArray / NS_A_MS,
    ),
    bar('garbage collections in ten million picks, most of all ways', 'collections', 0, mostCollections(gc)),
    bar('table of 10,000 nodes', 'MiB', 2, tableBytes === undefined ? undefined : tableBytes / BYTES_A_MIB),
    bar(
      `longest poll cycle${poll === undefined ? '' : `, ${poll.agents} agents, ${poll.silent} silent`}`,
      'ms',
      (poll?.timeout ?? 2_000) + 500,
      poll === undefined || poll.durations.length === 0 ? undefined : Math.max(...poll.durations),
    ),
  ]
}

function bar(what: string, unit: BarUnit, atMost: number, reached: number | undefined): Bar {
  return { what, unit, atMost, reached, met: reached === undefined ? undefined : reached <= atMost }
}

function ratio(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined ? undefined : part / whole
}

function mostCollections(gc: readonly GcResult[] | undefined): number | undefined {
  if (gc === undefined || gc.length === 0) return undefined
  return Math.max(...gc.flatMap(({ cases }) => cases.map(({ collections }) => collections)))
}
