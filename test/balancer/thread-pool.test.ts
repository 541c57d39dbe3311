import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { Piscina } from 'piscina'
import {
  type Algorithm,
  createBalancer,
  createTable,
  hashRing,
  leastConnections,
  leastCpu,
  random,
  roundRobin,
} from '../../dist/index.js'

const THREADS = 3

interface Told {
  readonly threadId: number
  readonly nodes: string[]
}

/** A balancer, and a pool whose threads pick for it: one task a thread at a time. */
async function setUp(t: ExecutionContext, nodes: readonly string[], algorithm: Algorithm) {
  const balancer = createBalancer({
    nodes,
    algorithm,
    poll: false,
    table: createTable(),
    health: { consecutiveFailures: 3 },
  })
  const pool = new Piscina({
    filename: fileURLToPath(new URL('../fixtures/pool-task.mjs', import.meta.url)),
    workerData: { handle: balancer.handle() },
    minThreads: THREADS,
    maxThreads: THREADS,
    // Threads sleep between tasks without a turn of their event loop.
    atomics: 'sync',
    // The loader of the tests is not for the threads.
    execArgv: [],
  })
  t.teardown(async () => {
    await pool.destroy()
    await balancer.close()
  })
  /** Has a task done until each thread has answered as is right. */
  async function everywhere<T extends { readonly threadId: number }>(
    name: string,
    task: unknown,
    isRight: (answer: T) => boolean,
  ): Promise<void> {
    const right = new Set<number>()
    while (right.size < THREADS) {
      const tasks = Array.from({ length: THREADS }, () => pool.run(task, { name }) as Promise<T>)
      for (const answer of await Promise.all(tasks)) if (isRight(answer)) right.add(answer.threadId)
    }
  }
  return { balancer, pool, everywhere }
}

test.serial('tasks of a pool pick by the reports that the main thread has, and it by theirs', async (t) => {
  const { balancer, everywhere } = await setUp(t, ['a', 'b', 'c'], leastCpu())
  for (const [node, cpu] of Object.entries({ a: 90, b: 10, c: 90 })) balancer.report(node, { cpu })
  const threads = new Set<number>()
  await everywhere<Told>('pick', 10, ({ threadId, nodes }) => {
    threads.add(threadId)
    return nodes.join('') === 'b'.repeat(10)
  })
  t.is(threads.size, THREADS)
  await everywhere<{ threadId: number; known: boolean }>(
    'report',
    { node: 'c', cpu: 1 },
    ({ known }) => known,
  )
  t.is(balancer.select(), 'c')
})

test.serial('leases of all threads of a pool count together, and are given back', async (t) => {
  const { balancer, pool } = await setUp(t, ['a', 'b', 'c', 'd'], leastConnections({ choices: 4 }))
  const gate = new SharedArrayBuffer(8)
  const word = new Int32Array(gate)
  const tasks = Array.from({ length: THREADS }, () => pool.run(gate, { name: 'hold' }))
  while (Atomics.load(word, 0) < THREADS) {
    await Atomics.waitAsync(word, 0, Atomics.load(word, 0), 100).value
  }
  const counts = () => balancer.snapshot().map(({ inFlight }) => inFlight)
  // Each thread sees what the others have.
  t.deepEqual(counts().sort(), [0, 1, 1, 1])
  Atomics.store(word, 1, 1)
  Atomics.notify(word, 1)
  t.is(new Set(await Promise.all(tasks)).size, THREADS)
  t.deepEqual(counts(), [0, 0, 0, 0])
})

test.serial('the threads of a pool take turns with the main thread', async (t) => {
  const { balancer, pool } = await setUp(t, ['a', 'b', 'c', 'd'], roundRobin({ shared: true }))
  const tasks = Array.from({ length: 30 }, () => pool.run(10, { name: 'pick' }) as Promise<Told>)
  const picked = (await Promise.all(tasks)).flatMap(({ nodes }) => nodes)
  for (let i = 0; i < 100; i++) picked.push(balancer.select())
  const counts = balancer.nodes.map((node) => picked.filter((one) => one === node).length)
  t.deepEqual(counts, [100, 100, 100, 100])
})

test.serial('the threads of a pool follow the members, and end with the balancer', async (t) => {
  const { balancer, pool, everywhere } = await setUp(t, ['a', 'b'], random())
  balancer.add('c')
  balancer.remove('a')
  await everywhere<Told>('members', undefined, ({ nodes }) => nodes.join() === 'b,c')
  await balancer.drain('b')
  await everywhere<Told>('pick', 20, ({ nodes }) => nodes.join('') === 'c'.repeat(20))
  await balancer.close()
  let refusal: Error | undefined
  while (refusal === undefined) {
    refusal = await pool.run(1, { name: 'pick' }).then(
      () => undefined,
      (error: Error) => error,
    )
  }
  // Of an error its message alone comes over from another thread.
  t.regex(refusal.message, /closed/)
})

test.serial('the threads of a pool hear of members at picks by key and from arrays too', async (t) => {
  const { balancer, everywhere } = await setUp(t, ['a', 'b'], hashRing())
  await everywhere<Told>('pickBy', 'key', () => true)
  balancer.remove(balancer.select({ key: 'key' }))
  const [left] = balancer.nodes
  await everywhere<Told>('pickBy', 'key', ({ nodes }) => nodes.join() === left)
  balancer.add('c')
  void balancer.drain(left as string)
  await everywhere<Told>('pickBy', 'key', ({ nodes }) => nodes.join() === 'c')
  await everywhere<Told>('pickFrom', [left, 'c', 'c'], ({ nodes }) => nodes.join('') === 'c'.repeat(20))
  t.deepEqual(balancer.nodes, [left, 'c'])
})

test.serial('what fails in a thread of a pool fails its task, and counts against its node', async (t) => {
  const { balancer, pool } = await setUp(t, ['a', 'b', 'c'], random())
  const outcomes = await Promise.allSettled(
    Array.from({ length: 120 }, () => pool.run('a', { name: 'failAt' })),
  )
  const failed = outcomes.filter(({ status }) => status === 'rejected').length
  t.true(failed >= 3)
  // Each thread has its own count of failures, and takes it out for itself.
  t.true(failed <= THREADS * 3, `${failed} failures`)
  t.true(balancer.snapshot().every(({ inFlight }) => inFlight === 0))
})
