import test from 'ava'
import { createBalancer, OptionError, type PeakEwmaOptions, peakEwma } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

const NODES = ['a', 'b', 'c']

for (const engine of engines) {
  const setUp = (options: PeakEwmaOptions = {}, nodes: readonly string[] = NODES) => {
    const clock = new VirtualClock()
    const balancer = createBalancer({
      nodes,
      algorithm: peakEwma(options),
      poll: false,
      clock,
      seed: 1,
      engine,
    })
    // An engine learns of members that it knows: from its first look at them on.
    balancer.snapshot()
    const answer = (node: string, latency: number, ok = true) => balancer.lease(node).release({ ok, latency })
    const peak = (node: string) => balancer.snapshot().find(({ id }) => id === node)?.cost ?? Number.NaN
    return { balancer, clock, answer, peak }
  }

  test(`${engine}: a peak rises at once to a slower response, and no faster one draws it down`, (t) => {
    const { answer, peak } = setUp()
    t.is(peak('a'), 30)
    answer('a', 200)
    t.is(peak('a'), 200)
    answer('a', 5)
    t.is(peak('a'), 200)
    answer('a', 201)
    t.deepEqual(NODES.map(peak), [201, 30, 30])
  })

  test(`${engine}: a peak fades with its time constant, and is known beyond changes of members`, (t) => {
    const { balancer, clock, answer, peak } = setUp({ decay: 1_000 })
    answer('a', 400)
    clock.jump(1_000)
    t.is(peak('a'), 200)
    clock.jump(3_000)
    t.is(peak('a'), 50)
    balancer.remove('b')
    balancer.add('d')
    t.is(peak('a'), 50)
    t.is(peak('d'), 30)
    answer('a', 60)
    t.is(peak('a'), 60)
  })

  test(`${engine}: the lower of two by latency times what is in flight is picked`, (t) => {
    const { balancer, answer } = setUp({}, ['a', 'b'])
    answer('a', 90)
    // 30 at b: three requests in flight there cost as much as none at a.
    const leases = Array.from({ length: 8 }, () => balancer.acquire())
    const open = leases.filter(({ node }) => node === 'b').length
    t.true(open === 6 || open === 7, `${open}`)
    for (const lease of leases) lease.release({ ok: true, latency: 1 })
  })

  test(`${engine}: of many nodes two are compared, so that the slowest of all is never picked`, (t) => {
    const { balancer, answer } = setUp({}, ['a', 'b', 'c', 'd'])
    answer('a', 900)
    const counts = countPicks(6_000, () => balancer.select())
    t.is(counts.get('a'), undefined)
    t.true(areUniform(['b', 'c', 'd'].map((node) => counts.get(node) ?? 0)))
  })

  test(`${engine}: a node that fails fast does not look fast`, (t) => {
    const { balancer, answer, peak } = setUp({ errorLatency: 500 })
    answer('a', 1, false)
    t.is(peak('a'), 500)
    answer('b', 700, false)
    t.is(peak('b'), 700)
    const counts = countPicks(200, () => balancer.select({ exclude: ['b'] }))
    t.is(counts.get('a'), undefined)
  })

  test(`${engine}: picks are explained by the peak`, (t) => {
    const { balancer, answer } = setUp()
    answer('a', 250)
    t.regex(balancer.explain('a').words, /counts as taking 250 ms a request/)
    t.deepEqual(balancer.explain('a').grounds, { code: 'cost', cost: 250 })
  })

  test(`${engine}: arrays are picked from by requests in flight`, (t) => {
    const { balancer } = setUp()
    const lease = balancer.lease('a')
    t.deepEqual([...countPicks(50, () => balancer.select(['a', 'b'])).keys()], ['b'])
    lease.release()
  })
}

test('options out of range are refused', (t) => {
  for (const options of [
    { decay: 0 },
    { initialLatency: 0 },
    { errorLatency: -1 },
    { decay: '1' },
    { dekay: 1 },
  ]) {
    t.throws(() => peakEwma(options as object), { instanceOf: OptionError })
  }
  t.deepEqual(peakEwma(), { kind: 'peakEwma', decay: 10_000, initialLatency: 30, errorLatency: 1_000 })
})
