import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import {
  adaptive,
  attachBalancer,
  ClosedError,
  createBalancer,
  hashRing,
  leastCpu,
  local,
  maglev,
  OptionError,
  powerOfTwo,
  random,
  roundRobin,
  TableError,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform } from '../support/shares.js'

type Ask = (order: string, argument?: unknown) => Promise<unknown>

async function attach(t: ExecutionContext, handle: unknown, seed = 3): Promise<Ask> {
  const worker = new Worker(new URL('../fixtures/attached-picker.mjs', import.meta.url), {
    workerData: { handle, seed },
  })
  t.teardown(() => worker.terminate())
  await once(worker, 'message')
  return async (order, argument) => {
    worker.postMessage({ order, argument })
    const [answer] = await once(worker, 'message')
    return answer
  }
}

/** Asks again until the answer is right: member changes travel as messages. */
async function eventually(t: ExecutionContext, ask: () => Promise<unknown>, right: unknown): Promise<void> {
  let answer: unknown
  for (let i = 0; i < 200; i++) {
    answer = await ask()
    if (JSON.stringify(answer) === JSON.stringify(right)) break
    await setTimeout(10)
  }
  t.deepEqual(answer, right)
}

for (const engine of engines) {
  const nodes = [`${engine}-a`, `${engine}-b`, `${engine}-c`]
  const [a, b, c] = nodes as [string, string, string]

  test(`${engine}: an attached thread sees reports at once, without a message`, async (t) => {
    const balancer = createBalancer({ nodes, algorithm: leastCpu(), poll: false, engine })
    const ask = await attach(t, balancer.handle())
    t.is(await ask('engine'), engine)
    balancer.report(a, { cpu: 90 })
    balancer.report(b, { cpu: 10 })
    balancer.report(c, { cpu: 90 })
    t.deepEqual(await ask('pick', 5), [b, b, b, b, b])
    t.true(await ask('report', [c, 1]))
    t.is(balancer.select(), c)
    t.deepEqual(await ask('pick', 2), [c, c])
    await balancer.close()
  })

  test(`${engine}: threads share the counts in flight`, async (t) => {
    const balancer = createBalancer({ nodes: [`${engine}-f`], poll: false, engine })
    const ask = await attach(t, balancer.handle())
    const inFlight = () => balancer.snapshot()[0]?.inFlight
    balancer.acquire()
    await ask('acquire')
    await ask('acquire')
    t.is(inFlight(), 3)
    await ask('release')
    t.is(inFlight(), 1)
    await balancer.close()
  })

  test(`${engine}: an attached thread follows the members, and ends with the balancer`, async (t) => {
    const balancer = createBalancer({ nodes: [`${engine}-m`], poll: false, engine })
    const ask = await attach(t, balancer.handle())
    balancer.add(`${engine}-n`)
    await eventually(t, () => ask('nodes'), [`${engine}-m`, `${engine}-n`])
    await balancer.drain(`${engine}-m`)
    await eventually(t, () => ask('pick', 3), new Array(3).fill(`${engine}-n`))
    balancer.remove(`${engine}-m`)
    await eventually(t, () => ask('nodes'), [`${engine}-n`])
    await balancer.close()
    await eventually(t, () => ask('acquire'), { code: 'IDLEST_CLOSED' })
  })
}

test('threads of a balancer hear what nodes tell, here or there', async (t) => {
  const nodes = ['told-a', 'told-b', 'told-c']
  const balancer = createBalancer({ nodes, algorithm: random(), poll: false })
  const [ask, other] = [await attach(t, balancer.handle(), 1), await attach(t, balancer.handle(), 2)]
  balancer.report('told-a', { state: 'maint' })
  balancer.add('told-d')
  await eventually(t, async () => new Set((await ask('pick', 200)) as string[]).has('told-a'), false)
  t.true(await ask('tell', ['told-b', { state: 'drain', weight: 40, maxInFlight: 3 }]))
  t.false(((await ask('pick', 200)) as string[]).includes('told-b'))
  const right = [
    ['told-a', 'maint', { state: 'maint' }],
    ['told-b', 'drain', { state: 'drain', weight: 40, maxInFlight: 3 }],
    ['told-c', 'up', {}],
    ['told-d', 'up', {}],
  ]
  await eventually(t, () => other('standings'), right)
  await eventually(t, () => ask('standings'), right)
  const here = balancer.snapshot().map(({ id, state, told }) => [id, state, told])
  t.is(JSON.stringify(here), JSON.stringify(right))
  await balancer.close()
})

for (const engine of engines) {
  for (const algorithm of [hashRing({ weights: { 'key-3': 2 } }), maglev()]) {
    test(`${engine}, ${algorithm.kind}: an attached thread picks the same node for the same key`, async (t) => {
      const nodes = Array.from({ length: 80 }, (_, i) => `key-${i}`)
      const balancer = createBalancer({ nodes, algorithm, poll: false, engine })
      const ask = await attach(t, balancer.handle())
      const keys = ['', 'a', 0, 1.5, Uint8Array.of(1, 2), ...nodes]
      const here = () => keys.map((key) => balancer.select({ key }))
      t.deepEqual(await ask('pickBy', keys), here())
      balancer.remove('key-5')
      void balancer.drain('key-6')
      balancer.add('key-80')
      await balancer.settled()
      const settled = async () => {
        await ask('settled')
        return ask('pickBy', keys)
      }
      await eventually(t, settled, here())
      await balancer.close()
    })
  }
}

test('a node that left and came back is not taken for the old one by an attached thread', async (t) => {
  const balancer = createBalancer({ nodes: ['back', 'other'], algorithm: leastCpu(), poll: false })
  balancer.report('back', { cpu: 1 })
  const ask = await attach(t, balancer.handle())
  await ask('acquire')
  balancer.remove('back')
  balancer.add('back')
  balancer.report('back', { cpu: 99 })
  await eventually(t, () => ask('pick', 2), ['other', 'other'])
  balancer.report('back', { cpu: 2 })
  await eventually(t, () => ask('pick', 1), ['back'])
  await ask('release')
  t.true(balancer.snapshot().every((node) => node.inFlight === 0))
  await balancer.close()
})

test('threads that pick while one writes stay within the band of what was published', async (t) => {
  const nodes = Array.from({ length: 30 }, (_, i) => `many-${i}`)
  const balancer = createBalancer({ nodes, poll: false, algorithm: leastCpu({ threshold: 0 }) })
  // Whoever sees half of a publication would find another least than 0.
  for (const node of nodes) balancer.report(node, { cpu: 50 })
  const asks = await Promise.all([1, 2, 3].map((seed) => attach(t, balancer.handle(), seed)))
  for (let round = 0; round < 60; round++) {
    const least = nodes[round % nodes.length] as string
    const last = nodes[(round + nodes.length - 1) % nodes.length] as string
    balancer.report(least, { cpu: 0 })
    if (last !== least) balancer.report(last, { cpu: 50 })
    const answers = await Promise.all(asks.map((ask) => ask('pick', 50)))
    for (const answer of answers) t.deepEqual(answer, new Array(50).fill(least))
  }
  await balancer.close()
})

test('attached threads with other seeds pick other sequences, all uniform', async (t) => {
  const nodes = ['s1', 's2', 's3', 's4']
  const balancer = createBalancer({ nodes, algorithm: random(), poll: false })
  const [one, two, again] = (await Promise.all(
    [1, 2, 1].map(async (seed) => (await attach(t, balancer.handle(), seed))('pick', 4_000)),
  )) as [string[], string[], string[]]
  t.deepEqual(one, again)
  t.notDeepEqual(one, two)
  for (const picks of [one, two]) {
    t.true(areUniform(nodes.map((node) => picks.filter((pick) => pick === node).length)))
  }
  await balancer.close()
})

test('what is not a handle is refused, and so is a clock that could not be posted', (t) => {
  t.throws(() => attachBalancer({} as never), { instanceOf: OptionError, message: /handle\(\)/ })
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes: ['a'], poll: false, clock })
  t.throws(() => attachBalancer(balancer.handle()), { instanceOf: OptionError, message: /clock/ })
  const attached = attachBalancer(balancer.handle(), { clock, seed: 1 })
  t.is(attached.select(), 'a')
  attached.close()
  attached.close()
  t.throws(() => attached.select(), { code: 'IDLEST_CLOSED' })
  const handle = { ...balancer.handle(), table: new SharedArrayBuffer(4_096) }
  t.throws(() => attachBalancer(handle, { clock }), { instanceOf: TableError })
})

for (const engine of engines) {
  test(`${engine}: a handle with a part that is missing or wrong is refused, with what would be right`, (t) => {
    const balancer = createBalancer({ nodes: ['a'], poll: false, engine })
    const handle = balancer.handle()
    const place = { id: 'a', slot: 0, generation: 0 }
    const standing = {
      order: 'up',
      told: {},
      ejected: false,
      refused: false,
      suspect: false,
      unreachable: false,
      tier: 0,
      part: 1,
    }
    const members = { places: [place], standings: [standing] }
    const wrong: Record<string, unknown>[] = [
      { table: undefined },
      { table: null },
      { table: new Uint8Array(4_096) },
      { algorithm: undefined },
      { algorithm: { kind: 'leastCpu' } },
      { algorithm: { kind: 'hashRing' } },
      { algorithm: { ...hashRing(), points: 0 } },
      { algorithm: { ...hashRing(), hash: 'md5' } },
      { algorithm: { ...hashRing(), boundedLoad: 0.5 } },
      { algorithm: { ...hashRing(), weights: { a: -1 } } },
      { algorithm: { ...hashRing(), weights: { a: 1e6 } } },
      { algorithm: { ...maglev(), tableSize: 100 } },
      { algorithm: { ...maglev(), weights: { a: Number.NaN } } },
      { algorithm: { kind: 'leastCpu', threshold: Number.NaN, ttl: 1, missing: 0 } },
      { algorithm: { ...powerOfTwo({ metric: 'cpu' }), choices: 1e9 } },
      { algorithm: { ...adaptive(), weights: null } },
      { algorithm: { ...weightedRoundRobin(), ttl: 10n } },
      { algorithm: { ...local(), weights: null }, self: 'a' },
      { algorithm: roundRobin({ shared: true }), turns: new SharedArrayBuffer(64) },
      { algorithm: roundRobin({ shared: true }), turns: new SharedArrayBuffer(130) },
      { engine: 'other' },
      { channel: undefined },
      { name: 5 },
      { members: undefined },
      { members: { ...members, places: 'a' } },
      { members: { ...members, standings: [] } },
      { members: { ...members, standings: [{ ...standing, order: 'down' }] } },
      { members: { ...members, standings: [{ ...standing, told: { weight: -1 } }] } },
      { members: { ...members, standings: [{ ...standing, told: { state: 'ill' } }] } },
      { members: { ...members, standings: [{ ...standing, ejected: undefined }] } },
      { members: { ...members, standings: [{ ...standing, tier: -1 }] } },
      { members: { ...members, standings: [{ ...standing, part: 2 }] } },
      { members: { ...members, places: [{ ...place, slot: -1 }] } },
      { members: { ...members, places: [{ ...place, generation: 0.5 }] } },
    ]
    for (const part of wrong) {
      t.throws(
        () => attachBalancer({ ...handle, ...part } as never),
        { instanceOf: OptionError, message: /handle\(\)/ },
        Object.keys(part)[0],
      )
    }
    const attached = attachBalancer({ ...handle, members } as never)
    t.is(attached.select(), 'a')
    attached.close()
  })

  test(`${engine}: a table that says it has more slots than it may is refused`, (t) => {
    const handle = createBalancer({ nodes: ['a'], poll: false, engine }).handle()
    for (const [most, capacity] of [
      [1, 64],
      [1_024, -5],
      [1_024, 2 ** 31 - 1],
    ]) {
      const shared = handle.table as SharedArrayBuffer
      const table = new SharedArrayBuffer(shared.byteLength)
      const words = new Int32Array(table)
      words.set(new Int32Array(shared))
      words[4] = most as number
      words[5] = capacity as number
      t.throws(
        () => attachBalancer({ ...handle, table }),
        { instanceOf: TableError },
        `${capacity} of ${most}`,
      )
    }
  })
}

test('attaching to a balancer that has been closed meanwhile throws ClosedError', async (t) => {
  const balancer = createBalancer({ nodes: ['a'], poll: false })
  const handle = structuredClone(balancer.handle())
  await balancer.close()
  t.throws(() => attachBalancer(handle), { instanceOf: ClosedError, message: /balancer-/ })
})
