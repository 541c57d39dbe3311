import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import {
  BadNodeError,
  configure,
  createBalancer,
  createTable,
  leastCpu,
  NoNodesError,
  powerOfTwo,
  random,
  select,
  UnknownLoadError,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { areUniform, countPicks, follow } from '../support/shares.js'

// `configure` is the module's own state.
const serial = test.serial

serial('without readings it is a uniform random pick of the very elements', async (t) => {
  await configure({ seed: 11 })
  const nodes = ['u1', 'u2', 'u3']
  const counts = countPicks(30_000, () => select(nodes))
  t.is(counts.size, 3)
  t.true(areUniform([...counts.values()]))
  const objects = [
    { id: 'u1', port: 1 },
    { id: 'u2', port: 2 },
  ]
  for (let i = 0; i < 20; i++) t.true(objects.includes(select(objects)))
})

serial('it goes by readings that any balancer of the process collects', async (t) => {
  await configure({ seed: 12, algorithm: leastCpu() })
  const balancer = createBalancer({ nodes: ['r1', 'r2'], poll: false })
  balancer.report('r1', { cpu: 90 })
  balancer.report('r2', { cpu: 20 })
  const nodes = ['r1', 'r2', 'stranger']
  for (let i = 0; i < 2_000; i++) t.is(select(nodes), 'r2')
  for (let i = 0; i < 20; i++) t.is(select(nodes.filter((node) => node !== 'r2')), 'stranger')
  balancer.report('r2', { cpu: 99 })
  t.is(select(nodes), 'stranger')
  await balancer.close()
  t.is(countPicks(300, () => select(['r1', 'r2'])).size, 2)
})

serial('where nothing is known of any that are compared, it fails if it was told to', async (t) => {
  await configure({ seed: 15, algorithm: powerOfTwo({ metric: 'cpu', unknown: 'fail' }) })
  const nodes = [{ id: 'stranger-1' }, { id: 'stranger-2' }]
  for (let i = 0; i < 4; i++) {
    const error = t.throws(() => select(nodes), { instanceOf: UnknownLoadError })
    t.regex(error?.node ?? '', /^stranger-[12]$/)
  }
  t.is(select(nodes.slice(1)).id, 'stranger-2')
})

serial('by default picks go by spare CPU, a node without a reading as the mean of the others', async (t) => {
  const clock = new VirtualClock()
  const table = createTable({ clock })
  await configure({ seed: 12, table })
  const balancer = createBalancer({ nodes: ['r1', 'r2'], table, poll: false })
  balancer.report('r1', { cpu: 90 })
  balancer.report('r2', { cpu: 20 })
  const nodes = ['r1', 'r2', 'stranger']
  /** Whether picks follow what these have to spare; a hundredth of them are even. */
  const goBy = (spare: number[]) => {
    const all = spare.reduce((sum, each) => sum + each, 0)
    const counts = countPicks(20_000, () => select(nodes))
    return follow(
      nodes.map((node) => counts.get(node) ?? 0),
      spare.map((each) => (0.99 * each) / all + 0.01 / spare.length),
    )
  }
  t.true(goBy([10, 80, 45]))
  // Readings are smoothed over 10 s: after as long, half the way.
  clock.jump(10_000)
  balancer.report('r2', { cpu: 99 })
  t.true(goBy([10, 40.5, 25.25]))
  await balancer.close()
  t.true(goBy([1, 1, 1]))
  await configure({})
})

serial('an array that is changed between picks is followed: what is returned is in it now', async (t) => {
  await configure({ seed: 13, algorithm: random() })
  const nodes = ['a', 'b', 'c', 'd']
  let next = 0
  for (let i = 0; i < 5_000; i++) {
    const change = i % 7
    if (change === 0) nodes[i % nodes.length] = `n${next++}`
    if (change === 1) nodes.push(`n${next++}`)
    if (change === 2 && nodes.length > 1) nodes.shift()
    if (change === 3) nodes.reverse()
    t.true(nodes.includes(select(nodes)))
  }
  nodes.length = 0
  t.throws(() => select(nodes), { instanceOf: NoNodesError })
  nodes.push('back')
  t.is(select(nodes), 'back')
  const object = { id: 'one' }
  const objects = [object]
  t.is(select(objects), object)
  t.is(select(objects), object)
  object.id = ''
  for (let i = 0; i < 2_000; i++) {
    // The change of an id is noticed at the next look at the whole array.
    try {
      select(objects)
    } catch (error) {
      t.true(error instanceof BadNodeError)
      return
    }
  }
  t.fail('an id that became empty was never noticed')
})

serial('bad elements are refused whether the array is new or known', async (t) => {
  await configure({ seed: 14 })
  for (const bad of ['', 5, null, undefined, { id: '' }, {}, 'a\0b', 'x'.repeat(1_000_000)]) {
    const nodes = ['fine', bad as string]
    t.throws(() => select(nodes), { instanceOf: BadNodeError })
    t.throws(() => select(nodes), { instanceOf: BadNodeError })
    t.throws(() => select(nodes), { instanceOf: BadNodeError })
  }
  t.throws(() => select('abc' as unknown as string[]), { code: 'IDLEST_BAD_OPTION' })
  t.throws(() => select(undefined as unknown as string[]), { code: 'IDLEST_BAD_OPTION' })
  await t.throwsAsync(configure({ algoritm: random() } as object), {
    code: 'IDLEST_BAD_OPTION',
    message: /algorithm/,
  })
  const short = { poll: { port: 1, interval: 5_000 }, forgetAfter: 9_999 }
  await t.throwsAsync(configure(short), { code: 'IDLEST_BAD_OPTION', message: /10000 ms/ })
  t.is(select(['still']), 'still')
})

serial(
  'with poll it asks the nodes that it is shown, and forgets those not shown for 10 minutes',
  async (t) => {
    const clock = new VirtualClock()
    const table = createTable({ clock })
    const cpu: Record<string, number> = { a: 80, b: 10, c: 50 }
    let asked: string[] = []
    await configure({
      table,
      seed: 15,
      algorithm: leastCpu({ threshold: 1 }),
      poll: {
        interval: 1_000,
        startupJitter: 0,
        transport: {
          poll: async (node) => {
            asked.push(node)
            return { cpu: cpu[node] ?? 0 }
          },
        },
      },
    })
    const nodes = ['a', 'b', 'c']
    select(nodes)
    await clock.advance(10)
    for (let i = 0; i < 100; i++) t.is(select(nodes), 'b')
    cpu.b = 90
    await clock.advance(1_000)
    for (let i = 0; i < 100; i++) t.is(select(nodes), 'c')
    for (let minute = 0; minute < 11; minute++) {
      t.is(select(['a', 'c']), 'c')
      await clock.advance(60_000)
    }
    asked = []
    select(['a', 'c'])
    await clock.advance(1_000)
    t.deepEqual(asked.sort(), ['a', 'c'])
    t.is(table.size, 2)
    await configure({})
    t.is(table.size, 0)
    t.is(clock.pending, 0)
  },
)

serial('a table that is full leaves the rest of the nodes unpolled; picks go on', async (t) => {
  const warnings: Error[] = []
  const listener = (warning: Error) => warnings.push(warning)
  process.on('warning', listener)
  const table = createTable({ clock: new VirtualClock(), maxNodes: 2 })
  await configure({
    seed: 14,
    table,
    poll: { startupJitter: 0, transport: { poll: async () => ({ cpu: 1 }) } },
  })
  const nodes = ['f1', 'f2', 'f3']
  t.is(countPicks(300, () => select(nodes)).size, 3)
  t.is(countPicks(300, () => select([...nodes])).size, 3)
  await configure({})
  await setImmediate()
  process.off('warning', listener)
  t.is(warnings.filter((warning) => /the table is full/.test(warning.message)).length, 1)
})
