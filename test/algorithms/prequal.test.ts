import test from 'ava'
import { createBalancer, OptionError, prequal } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

type Options = Parameters<typeof prequal>[0]

const letters = ['a', 'b', 'c', 'd']

for (const engine of engines) {
  const setUp = (nodes: readonly string[], options?: Options) => {
    const clock = new VirtualClock(1_000)
    const balancer = createBalancer({
      nodes,
      algorithm: prequal(options),
      poll: false,
      clock,
      seed: 3,
      engine,
    })
    const say = (node: string, inFlight: number, latency?: number, age = 0) =>
      balancer.report(node, latency === undefined ? { inFlight, age } : { inFlight, latency, age })
    const pick = (times: number) => Array.from({ length: times }, () => balancer.select()).join('')
    return { balancer, clock, say, pick }
  }

  test(`${engine}: of the cold the fastest is picked, of the hot the one with the fewest in flight`, (t) => {
    // Of 1, 2, 3 and 9 in flight the half quantile is 3: above it is hot.
    const { say, pick } = setUp(letters, { quantile: 0.5 })
    say('a', 1, 50)
    say('b', 2, 40)
    say('c', 3, 30)
    say('d', 9, 1)
    // c is hot with its first pick; then b has two, and a three.
    t.is(pick(6), 'cbbaaa')
    // All have 4 but for d: of equals the fastest.
    t.is(pick(3), 'cba')
  })

  test(`${engine}: with quantile 1 latency alone decides, with 0 nearly requests in flight alone`, (t) => {
    const { say, pick } = setUp(['a', 'b'], { quantile: 1 })
    say('a', 0, 50)
    say('b', 90, 40)
    t.is(pick(5), 'bbbbb')
    const few = setUp(['a', 'b'], { quantile: 0 })
    few.say('a', 0, 50)
    few.say('b', 3, 40)
    t.is(few.pick(4), 'aaab')
  })

  test(`${engine}: an unknown latency counts as the mean of the known ones`, (t) => {
    const { say, pick } = setUp(['a', 'b', 'c'], { quantile: 1 })
    say('a', 0, 10)
    say('b', 0)
    say('c', 0, 30)
    t.is(pick(1), 'a')
    const { balancer } = setUp([])
    t.is(balancer.stats().picks.atRandom, 0)
    const other = setUp(['a', 'b', 'c'], { quantile: 1 })
    other.say('a', 0, 30)
    other.say('b', 0)
    other.say('c', 0, 40)
    t.is(other.balancer.select({ exclude: ['a'] }), 'b')
  })

  test(`${engine}: a latency that is older than maxAge is unknown`, (t) => {
    const { clock, say, pick } = setUp(['a', 'b', 'c'], { quantile: 1 })
    say('a', 0, 1)
    clock.jump(1_001)
    say('a', 0)
    say('b', 0, 20)
    say('c', 0, 50)
    // 35, not 1.
    t.is(pick(1), 'b')
  })

  test(`${engine}: an entry is used until it is maxAge old, and not after`, (t) => {
    const { balancer, clock, say, pick } = setUp(letters, { quantile: 1, maxAge: 500 })
    say('a', 0, 10)
    say('b', 0, 20)
    clock.jump(500)
    t.is(pick(50), 'a'.repeat(50))
    clock.jump(1)
    const counts = countPicks(2_000, () => balancer.select())
    t.true(areUniform(letters.map((node) => counts.get(node) ?? 0)))
    t.is(balancer.stats().picks.atRandom, 2_000)
  })

  test(`${engine}: the age of a sample counts, and what is older than the entry changes nothing`, (t) => {
    const { clock, say, pick } = setUp(['a', 'b'], { quantile: 1, maxAge: 500 })
    clock.jump(1_000)
    say('a', 0, 10, 100)
    say('b', 0, 20, 100)
    t.is(pick(1), 'a')
    say('b', 0, 1, 200)
    t.is(pick(1), 'a')
    say('b', 0, 1, 50)
    t.is(pick(1), 'b')
    say('a', 0, 0.5, 501)
    t.is(pick(1), 'b')
  })

  test(`${engine}: with less than two entries picks are random, and counted`, (t) => {
    const { balancer, say } = setUp(letters)
    say('a', 0, 1)
    const counts = countPicks(2_000, () => balancer.select())
    t.true(areUniform(letters.map((node) => counts.get(node) ?? 0)))
    const { picks, atRandom } = balancer.stats().picks
    t.deepEqual([picks, atRandom], [2_000, 2_000])
  })

  test(`${engine}: reports without requests in flight make no entries`, (t) => {
    const { balancer, pick } = setUp(letters)
    for (const node of letters) balancer.report(node, { cpu: 5, latency: 3 })
    pick(10)
    t.is(balancer.stats().picks.atRandom, 10)
  })

  test(`${engine}: excluded nodes are not picked, and those that left or drain have no entry`, (t) => {
    const { balancer, say, pick } = setUp(letters, { quantile: 1 })
    for (const [i, node] of letters.entries()) say(node, 0, 10 + i)
    t.is(balancer.select({ exclude: ['a', 'c'] }), 'b')
    balancer.remove('a')
    t.is(pick(1), 'b')
    void balancer.drain('b')
    t.is(pick(1), 'c')
    balancer.add('a')
    t.is(pick(5), 'c'.repeat(5))
    t.is(balancer.stats().picks.atRandom, 0)
    t.throws(() => balancer.select({ exclude: letters }))
  })

  test(`${engine}: of a hundred nodes that report at once any sixteen make entries, each for its uses`, (t) => {
    const nodes = Array.from({ length: 100 }, (_, i) => `node-${i}`)
    const seen = new Set<string>()
    for (let round = 0; round < 40; round++) {
      const clock = new VirtualClock(1_000)
      const balancer = createBalancer({
        nodes,
        algorithm: prequal({ removals: 0, probes: 2.5 }),
        poll: false,
        clock,
        seed: round,
        engine,
      })
      for (const node of nodes) balancer.report(node, { inFlight: 1, latency: 1 })
      // 0.84 * 2.5 = 2.1 come a pick, so that each has one use; the last entry is left.
      for (let i = 0; i < 15; i++) seen.add(balancer.select())
      t.is(balancer.stats().picks.atRandom, 0)
      balancer.select()
      t.is(balancer.stats().picks.atRandom, 1)
    }
    // 600 of 100 by chance: less than one is expected to be missing. Were it the last sixteen, there would be 16.
    t.true(seen.size > 90, `${seen.size}`)
  })

  test(`${engine}: picks from an array are random, whatever was reported`, (t) => {
    const { balancer, say } = setUp(letters)
    for (const node of letters) say(node, node === 'a' ? 0 : 50, 1)
    const counts = countPicks(4_000, () => balancer.select(letters))
    t.true(areUniform(letters.map((node) => counts.get(node) ?? 0)))
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      [0.25, 0.25, 0.25, 0.25],
    )
  })
}

for (const [options, path] of [
  [{ quantile: -0.1 }, 'quantile'],
  [{ quantile: 1.1 }, 'quantile'],
  [{ quantile: Number.NaN }, 'quantile'],
  [{ pool: 1 }, 'pool'],
  [{ pool: 2.5 }, 'pool'],
  [{ pool: 1_025 }, 'pool'],
  [{ maxAge: -1 }, 'maxAge'],
  [{ maxAge: Number.POSITIVE_INFINITY }, 'maxAge'],
  [{ maxAge: '5' }, 'maxAge'],
  [{ probes: -1 }, 'probes'],
  [{ probes: 65 }, 'probes'],
  [{ probes: null }, 'probes'],
  [{ removals: Number.NaN }, 'removals'],
  [{ removals: 65 }, 'removals'],
  [{ reuse: 1 }, 'reuse'],
] as const) {
  test(`prequal(${JSON.stringify(options)}) (${String(Object.values(options)[0])}) is refused`, (t) => {
    const error = t.throws(() => prequal(options as never), { instanceOf: OptionError })
    t.true(error?.message.startsWith(`option prequal.${path} `), error?.message)
  })
}

test('an algorithm that prequal() did not make must be as one that it makes', (t) => {
  const right = { ...prequal() }
  const make = (algorithm: object) =>
    createBalancer({
      algorithm: Object.freeze(algorithm) as never,
      poll: false,
      nodes: ['a'],
      clock: new VirtualClock(),
    })
  t.is(make(right).select(), 'a')
  for (const wrong of [
    { kind: 'prequal' },
    { ...right, quantile: 2 },
    { ...right, pool: 1.5 },
    { ...right, maxAge: -1 },
    { ...right, probes: '3' },
    { ...right, removals: Number.POSITIVE_INFINITY },
  ]) {
    t.throws(() => make(wrong), { instanceOf: OptionError }, JSON.stringify(wrong))
  }
})
