import cluster from 'node:cluster'
import { once } from 'node:events'
import { attachBalancer, createBalancer, createTable, leastConnections } from '../../../dist/index.js'
import { filePath, program, SharingProcess, test, until } from './processes.js'

const nodes = ['a', 'b', 'c']

for (const count of [2, 8]) {
  test(`${count} processes see each other's readings and requests in flight`, async (t) => {
    const file = filePath()
    const all = await Promise.all(
      Array.from({ length: count }, () => SharingProcess.start(t, { file, nodes })),
    )
    const [first, ...others] = all as [SharingProcess, ...SharingProcess[]]
    for (const one of all) await one.do('acquire', 3)
    for (const one of all) t.deepEqual(await one.do('inFlight'), [count, count, count])
    await first.do('report', ['b', { cpu: 42 }])
    for (const one of others) t.deepEqual(await one.do('cpus'), [undefined, 42, undefined])
    for (const one of all) await one.do('release', 3)
    for (const one of all) t.deepEqual(await one.do('inFlight'), [0, 0, 0])
  })
}

test('a process picks by what the others have in flight', async (t) => {
  const file = filePath()
  const busy = await SharingProcess.start(t, { file, nodes: ['a'] })
  const other = await SharingProcess.start(t, { file, nodes: ['a', 'b'] })
  await busy.do('acquire', 5)
  for (let i = 0; i < 5; i++) t.is(await other.do('select'), 'b')
})

test('what a node told one process of its state, the others go by too', async (t) => {
  const file = filePath()
  const one = await SharingProcess.start(t, { file, nodes })
  const other = await SharingProcess.start(t, { file, nodes })
  await one.do('report', ['a', { state: 'drain' }])
  await until(
    () => other.do<string[]>('states'),
    ([a]) => a === 'drain',
  )
  // Also one that comes later.
  const late = await SharingProcess.start(t, { file, nodes })
  await until(
    () => late.do<string[]>('states'),
    ([a]) => a === 'drain',
  )
  await other.do('report', ['a', { state: 'up' }])
  await until(
    () => one.do<string[]>('states'),
    ([a]) => a === 'up',
  )
  t.deepEqual(await one.do('states'), ['up', 'up', 'up'])
})

test('a node keeps its slot while any process has it, and gives it back with the last', async (t) => {
  const file = filePath()
  const one = await SharingProcess.start(t, { file, nodes: ['a', 'b'] })
  const other = await SharingProcess.start(t, { file, nodes: ['b', 'c'] })
  t.deepEqual(await other.do('places'), ['a', 'b', 'c'])
  await one.do('report', ['b', { cpu: 7 }])
  await one.do('setNodes', [])
  t.deepEqual(await other.do('cpus'), [7, undefined])
  await until(
    () => other.do<string[]>('places'),
    (places) => !places.includes('a'),
  )
  t.deepEqual(await other.do('places'), ['b', 'c'])
})

test('a file is full for all processes', async (t) => {
  const file = filePath()
  const one = await SharingProcess.start(t, { file, nodes: ['a', 'b'], maxNodes: 3 })
  const other = await SharingProcess.start(t, { file, nodes: ['b', 'c'] })
  const { code, message } = await one.do<{ code: string; message: string }>('setNodes', ['a', 'b', 'd'])
  t.is(code, 'IDLEST_TABLE')
  t.regex(message, /at most 3 nodes/)
  await other.do('setNodes', [])
  await until(
    () => one.do<unknown>('setNodes', ['a', 'b', 'd']),
    (answer) => answer === 3,
  )
  t.deepEqual(await one.do('places'), ['a', 'b', 'd'])
})

test('a worker thread that is attached counts in the file, and what it had is taken back when it ends', async (t) => {
  const file = filePath()
  const one = await SharingProcess.start(t, { file, nodes: ['a'] })
  const other = await SharingProcess.start(t, { file, nodes: ['a'] })
  t.is(await one.do('attach'), 'attached')
  await one.do('worker', { order: 'acquire' })
  await one.do('acquire', 1)
  t.deepEqual(await other.do('inFlight'), [2])
  await one.do('endWorker')
  await until(
    () => other.do<number[]>('inFlight'),
    ([a]) => a === 1,
  )
  t.deepEqual(await one.do('inFlight'), [1])
})

test('the workers of a cluster share a table', async (t) => {
  const file = filePath()
  cluster.setupPrimary({ exec: program, execArgv: [] })
  t.teardown(() => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  })
  const FILE_TABLE = JSON.stringify({ file, nodes: ['a'] })
  const workers = [cluster.fork({ FILE_TABLE }), cluster.fork({ FILE_TABLE })]
  const ask = async (worker: (typeof workers)[number], order: string, argument?: unknown) => {
    worker.send({ number: 1, order, argument })
    const [{ answer }] = await once(worker, 'message')
    return answer
  }
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  for (const worker of workers) await ask(worker, 'acquire', 2)
  for (const worker of workers) t.deepEqual(await ask(worker, 'inFlight'), [4])
})

for (const engine of ['native', 'portable'] as const) {
  test(`${engine}: two tables of one thread over one file are as those of two processes`, async (t) => {
    const file = filePath()
    const make = () =>
      createBalancer({
        nodes: ['a', 'b'],
        table: createTable({ file }),
        algorithm: leastConnections({ exact: true }),
        poll: false,
        engine,
      })
    const [one, other] = [make(), make()]
    t.teardown(() => Promise.all([one.close(), other.close()]))
    const lease = one.acquire()
    t.not(other.select(), lease.node)
    lease.release()
    t.deepEqual(
      other.snapshot().map(({ inFlight }) => inFlight),
      [0, 0],
    )
    const attached = attachBalancer(one.handle())
    const here = attached.acquire()
    t.is(other.snapshot().find(({ id }) => id === here.node)?.inFlight, 1)
    attached.close()
  })
}
