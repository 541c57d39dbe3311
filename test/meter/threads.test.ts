import test from 'ava'
import { measureWaits, SLOWNESS, type WaitsResult } from '../../bench/figures/waits.js'

const JOBS = 600

test('8 threads with uneven jobs: best of two waits less than in turn and at random, since slow threads get fewer', async (t) => {
  const results = await measureWaits(JOBS)
  const waits = new Map(results.map((result) => [result.policy.replace(/\(.*/, ''), result]))
  const of = (name: string) => waits.get(name) as WaitsResult
  for (const { policy, mean, p99, jobs } of results) {
    t.log(`${policy}: mean wait ${mean.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms; jobs ${jobs.join(' ')}`)
    t.is(
      jobs.reduce((sum, count) => sum + count, 0),
      JOBS,
    )
  }
  const slowShare = ({ jobs }: WaitsResult) =>
    jobs.filter((_, i) => (SLOWNESS[i] as number) > 1).reduce((sum, count) => sum + count, 0) / JOBS
  // Two of eight threads; three times as slow, so their part of the work that can be done is a tenth.
  t.is(slowShare(of('roundRobin')), 0.25)
  t.true(slowShare(of('powerOfTwo')) < 0.2)
  // A thread that got nothing would be a thread that nobody believes.
  t.true(of('powerOfTwo').jobs.every((count) => count > JOBS / 50))
  for (const other of ['roundRobin', 'random']) t.true(of('powerOfTwo').mean < of(other).mean, other)
})
