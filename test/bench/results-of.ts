import { barsOf } from '../../bench/bars.js'
import type { CaseResult, Doer, Topic } from '../../bench/case.js'
import type { Results } from '../../bench/results.js'

/** A case whose rounds are within a tenth of a median; with a floor of 20 ns. */
export function caseResult(
  name: string,
  engine: Doer,
  nodes: number,
  ns: number,
  topic: Topic = 'picks',
): CaseResult {
  const around = (median: number) => ({ median, p10: median * 0.9, p90: median * 1.1 })
  return {
    topic,
    name,
    engine,
    nodes,
    unit: 'pick',
    ns: around(ns),
    floors: around(ns / 20),
    p99: ns,
    samples: 1,
  }
}

/** Results with these cases, of a machine that did nothing else. */
export function resultsOf(cases: readonly CaseResult[], other: Partial<Results> = {}): Results {
  return {
    date: '2030-01-02T03:04:05.678Z',
    took: 600,
    quick: false,
    rounds: 40,
    machine: { platform: 'linux', cpu: 'A CPU', cores: 4, memoryGiB: 16 },
    versions: { idlest: '1.2.3', node: '30.0.0', v8: '20.0', peers: { undici: '9.9.9', hashring: '3.2.0' } },
    steadiness: {
      floor: { median: 20, p10: 19.8, p90: 21 },
      loadBefore: 0.1,
      loadAfter: 1,
      others: 0.01,
    },
    cases,
    threads: [],
    figures: {},
    bars: barsOf(cases).filter(({ met }) => met !== undefined),
    ...other,
  }
}
