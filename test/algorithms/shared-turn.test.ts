import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import fc from 'fast-check'
import { attachBalancer, createBalancer, OptionError, roundRobin } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { countPicks } from '../support/shares.js'

const names = (size: number) => Array.from({ length: size }, (_, i) => `n${i}`)

for (const engine of engines) {
  const balancerOf = (size: number, shared: boolean, seed = 1) =>
    createBalancer({
      nodes: names(size),
      algorithm: roundRobin({ shared }),
      poll: false,
      clock: new VirtualClock(),
      seed,
      engine,
    })

  test(`${engine}: a balancer that shares turns with no one picks what it would pick alone`, (t) => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('pick' as const) }),
      fc.record({ kind: fc.constant('fill' as const), count: fc.nat(30) }),
      fc.record({ kind: fc.constant('exclude' as const), out: fc.array(fc.nat(9), { maxLength: 8 }) }),
      fc.record({ kind: fc.constantFrom('add' as const, 'remove' as const), node: fc.nat(9) }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8 }), fc.nat(), fc.array(step), (size, seed, steps) => {
        const [alone, together] = [false, true].map((shared) => {
          const balancer = balancerOf(size, shared, seed)
          return steps.map((step) => {
            if (step.kind === 'pick') return balancer.trySelect()
            if (step.kind === 'exclude') return balancer.trySelect({ exclude: step.out.map((i) => `n${i}`) })
            if (step.kind !== 'fill') return balancer[step.kind](`n${step.node}`)
            const into = new Uint32Array(step.count)
            return [balancer.fill(into), ...into]
          })
        })
        t.deepEqual(alone, together)
      }),
      { numRuns: 200 },
    )
  })

  test(`${engine}: an attached balancer takes the turns that the balancer does not, also past the excluded`, (t) => {
    const clock = new VirtualClock()
    const algorithm = roundRobin({ shared: true })
    const balancer = createBalancer({ nodes: names(5), algorithm, poll: false, clock, engine })
    const attached = attachBalancer(balancer.handle(), { clock })
    const first = balancer.selectIndex()
    for (let i = 1; i < 40; i += 2) {
      t.is(attached.selectIndex(), (first + i) % 5)
      t.is(balancer.selectIndex(), (first + i + 1) % 5)
    }
    const next = attached.selectIndex()
    t.is(balancer.select({ exclude: [`n${(next + 1) % 5}`] }), `n${(next + 2) % 5}`)
    const into = new Uint32Array(7)
    attached.fill(into)
    t.deepEqual(
      [...into],
      Array.from(into, (_, i) => (next + 3 + i) % 5),
    )
    t.is(balancer.selectIndex(), (next + 10) % 5)
    attached.close()
  })

  test(`${engine}: arrays are gone through in turn together too, apart from the members`, (t) => {
    const clock = new VirtualClock()
    const algorithm = roundRobin({ shared: true })
    const balancer = createBalancer({ nodes: names(2), algorithm, poll: false, clock, engine })
    const attached = attachBalancer(balancer.handle(), { clock })
    const nodes = ['x', 'y', 'z']
    const same = [...nodes]
    const member = balancer.selectIndex()
    const counts = countPicks(
      100,
      () => `${balancer.select(nodes)} ${attached.select(same)} ${balancer.select([...nodes])}`,
    )
    t.is(counts.size, 1)
    t.is(new Set([...counts.keys()][0]?.split(' ')).size, 3)
    t.is(attached.selectIndex(), 1 - member)
    attached.close()
  })

  test(`${engine}: each has its part of a turn, and no one to pick is told`, (t) => {
    const balancer = balancerOf(4, true)
    t.deepEqual(
      balancer.snapshot().map(({ share, inBand }) => [share, inBand]),
      new Array(4).fill([0.25, true]),
    )
    t.is(balancer.trySelect({ exclude: names(4) }), undefined)
    balancer.setNodes([])
    t.is(balancer.trySelect(), undefined)
    t.is(balancer.trySelect({ exclude: ['a'] }), undefined)
    t.is(balancer.fill(new Uint32Array(3)), 0)
    t.is(balancer.stats().picks.picks, 0)
  })

  for (const size of [1, 7]) {
    test(`${engine}: threads that pick at once from ${size} share turns exactly: none is lost, none is taken twice`, async (t) => {
      const balancer = createBalancer({
        nodes: names(size).map((name) => `${engine}-${size}-${name}`),
        algorithm: roundRobin({ shared: true }),
        poll: false,
        engine,
      })
      const start = new SharedArrayBuffer(4)
      const picks = 50_003
      const workers = [1, 2, 3, 4].map(
        (block) =>
          new Worker(new URL('../fixtures/turn-picker.mjs', import.meta.url), {
            workerData: { handle: balancer.handle(), start, picks, block },
          }),
      )
      await Promise.all(workers.map((worker) => once(worker, 'message')))
      const answers = workers.map((worker) => once(worker, 'message'))
      Atomics.store(new Int32Array(start), 0, 1)
      Atomics.notify(new Int32Array(start), 0)
      const totals = new Array(size).fill(0)
      // This thread picks too.
      for (let i = 0; i < picks; i++) totals[balancer.selectIndex()]++
      for (const [counts] of await Promise.all(answers)) {
        for (const [i, count] of (counts as number[]).entries()) totals[i] += count
      }
      t.is(
        totals.reduce((sum, count) => sum + count, 0),
        5 * picks,
      )
      t.true(Math.max(...totals) - Math.min(...totals) <= 1, `${totals}`)
      await balancer.close()
    })
  }

  test(`${engine}: a handle without the turns, or with too little room for them, is refused`, (t) => {
    const handle = balancerOf(2, true).handle()
    for (const turns of [undefined, new SharedArrayBuffer(4), new ArrayBuffer(128), 5]) {
      t.throws(() => attachBalancer({ ...handle, turns } as never, { clock: new VirtualClock() }), {
        instanceOf: OptionError,
        message: /handle\(\)/,
      })
    }
    const algorithm = { kind: 'roundRobin', shared: 'yes' }
    t.throws(() => attachBalancer({ ...handle, algorithm } as never), { instanceOf: OptionError })
  })
}

test('roundRobin refuses bad options', (t) => {
  t.deepEqual(roundRobin(), { kind: 'roundRobin' })
  t.deepEqual(roundRobin({ shared: true }), { kind: 'roundRobin', shared: true })
  for (const shared of [1, 'yes', null]) {
    const error = t.throws(() => roundRobin({ shared: shared as never }), { instanceOf: OptionError })
    t.is(error.option, 'roundRobin.shared')
  }
  t.throws(() => roundRobin({ share: true } as object), { instanceOf: OptionError, message: /"shared"/ })
})
