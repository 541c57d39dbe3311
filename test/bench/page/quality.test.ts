import test from 'ava'
import { qualityOverview, qualitySection } from '../../../bench/page/quality.js'
import type { QualityResults } from '../../../bench/quality/results.js'
import type { Outcome } from '../../../bench/quality/run.js'

function outcome(scene: string, policy: string, p99: number): Outcome {
  return { scene, policy, runs: 2, mean: 1, p50: 1, p99, p999: 1, worst: 1.1, failed: 0, watched: [] }
}

const quality: QualityResults = {
  date: '2030-01-02T03:04:05.678Z',
  seeds: 2,
  requests: 1,
  outcomes: [
    outcome('slow-1', 'roundRobin', 135_000),
    outcome('slow-1', 'adaptive', 58.2),
    outcome('slow-8', 'roundRobin', 140_000),
    outcome('slow-8', 'adaptive', 131),
  ],
}

test('a row a scene: what is wanted, and what each policy reached, the lowest in bold', (t) => {
  const lines = qualityOverview(quality).split('\n')
  t.is(lines[0], '| p99, ms | wanted | `roundRobin` | `adaptive` |')
  t.is(lines[2], '| one of 8 loses half its CPU, 70 %, 1 balancer | 90.0 | 135 s | **58.2** |')
  t.is(lines.length, 6)
})

test('the section says how it was made, and how many bars are missed', (t) => {
  const section = qualitySection(quality)
  t.regex(section, /on 2030-01-02: 2 runs of each scene, the shipped algorithms/)
  t.regex(section, /1 of 2 bars are missed/)
  t.regex(section, /p99 131 ms of 130 ms: MISSED/)
})
