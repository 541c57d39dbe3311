import { idOf, reporting, serve } from '../../poller/agents.js'
import { filePath, SharingProcess, test, until } from './processes.js'

const poll = { interval: 100, startupJitter: 0, timeout: 2_000 }

test('one process polls for all, and when it is killed another one does within two intervals', async (t) => {
  const file = filePath()
  let asked = 0
  const server = await serve(t, (request, response) => {
    asked++
    reporting(30)(request, response as never)
  })
  const sharing = { file, nodes: [idOf(server)], name: 'service', poll }
  const first = await SharingProcess.start(t, sharing)
  await first.do('ready')
  const others = await Promise.all([1, 2].map(() => SharingProcess.start(t, sharing)))
  for (const one of others) {
    await one.do('ready')
    t.deepEqual(await one.do('elected'), { here: false, pid: first.pid })
    t.deepEqual(await one.do('cpus'), [30])
    t.deepEqual(await one.nextCycles(2), [0, 0])
  }
  await first.kill()
  // Whatever they said of cycles before is heard before this. From here on a cycle, one an interval, finds it gone; one
  // may have begun before.
  const from = await Promise.all(
    others.map(async (one) => {
      await one.do('pid')
      return one.cycles.length
    }),
  )
  await Promise.all(others.map((one) => one.nextCycles(3)))
  const took = others.map((one, i) => one.cycles.findIndex((asked) => asked > 0) - (from[i] as number))
  const taker = others.findIndex((one) => one.cycles.some((asked) => asked > 0))
  t.true((took[taker] as number) <= 1, `after ${took[taker]} cycles`)
  const elected = await Promise.all(others.map((one) => one.do<{ here: boolean; pid: number }>('elected')))
  t.is(elected.filter(({ here }) => here).length, 1)
  t.is(elected[0]?.pid, elected[1]?.pid)
  t.true(asked > 1)
})

test('balancers of another name poll for themselves', async (t) => {
  const file = filePath()
  const [one, two] = await Promise.all([serve(t, reporting(1)), serve(t, reporting(2))])
  const first = await SharingProcess.start(t, { file, nodes: [idOf(one)], name: 'one', poll })
  const second = await SharingProcess.start(t, { file, nodes: [idOf(two)], name: 'two', poll })
  await Promise.all([first.do('ready'), second.do('ready')])
  t.deepEqual(await first.do('elected'), { here: true, pid: first.pid })
  t.deepEqual(await second.do('elected'), { here: true, pid: second.pid })
  t.deepEqual(await second.do('cpus'), [2])
})

test('nodes that the one that polls does not have are polled by those that have them', async (t) => {
  const file = filePath()
  const [both, mine] = await Promise.all([serve(t, reporting(1)), serve(t, reporting(2))])
  const first = await SharingProcess.start(t, { file, nodes: [idOf(both)], name: 'service', poll })
  await first.do('ready')
  const nodes = [idOf(both), idOf(mine)]
  const second = await SharingProcess.start(t, { file, nodes, name: 'service', poll })
  await until(
    () => second.do<number[]>('cpus'),
    ([, own]) => own === 2,
  )
  t.deepEqual(await second.nextCycles(2), [1, 1])
  t.deepEqual(await second.do('elected'), { here: false, pid: first.pid })
  // From then on it is the one that polls that asks.
  await first.do('setNodes', nodes)
  await until(
    () => second.nextCycles(1),
    ([asked]) => asked === 0,
  )
  t.deepEqual(await second.do('cpus'), [1, 2])
})

test('where the one that polls hangs, the others poll until it goes on', async (t) => {
  const file = filePath()
  const server = await serve(t, reporting(5))
  const sharing = { file, nodes: [idOf(server)], name: 'service', poll: { ...poll, timeout: 200 } }
  const first = await SharingProcess.start(t, sharing)
  await first.do('ready')
  const other = await SharingProcess.start(t, sharing)
  t.deepEqual(await other.nextCycles(2), [0, 0])
  first.signal('SIGSTOP')
  await until(
    () => other.nextCycles(1),
    ([asked]) => asked === 1,
  )
  t.deepEqual(await other.do('elected'), { here: false, pid: first.pid })
  first.signal('SIGCONT')
  await until(
    () => other.nextCycles(1),
    ([asked]) => asked === 0,
  )
  t.deepEqual(await other.do('elected'), { here: false, pid: first.pid })
})

test('what a killed process had is taken back: its requests in flight and its members', async (t) => {
  const file = filePath()
  const victim = await SharingProcess.start(t, { file, nodes: ['a', 'b', 'x'] })
  const other = await SharingProcess.start(t, { file, nodes: ['a', 'b'] })
  await victim.do('acquire', 7)
  await other.do('acquire', 2)
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  t.true(sum(await other.do('inFlight')) > 2)
  await victim.kill()
  await until(
    () => other.do<number[]>('inFlight'),
    (counts) => sum(counts) === 2,
  )
  await until(
    () => other.do<string[]>('places'),
    (places) => !places.includes('x'),
  )
  await other.do('release', 2)
  t.deepEqual(await other.do('inFlight'), [0, 0])
})

test('processes that are killed while they write leave a table that works, and its counts come right', async (t) => {
  const file = filePath()
  const nodes = ['a', 'b', 'c', 'd', 'e']
  const witness = await SharingProcess.start(t, { file, nodes })
  for (let round = 0; round < 8; round++) {
    const victims = await Promise.all([1, 2].map(() => SharingProcess.start(t, { file, nodes })))
    for (const victim of victims) t.is(await victim.do('churn'), 'churning')
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
    await Promise.all(victims.map((victim) => victim.kill()))
    t.is(await witness.do('acquire', 5), 5)
    t.is(await witness.do('release', 5), 0)
  }
  await until(
    () => witness.do<number[]>('inFlight'),
    (counts) => counts.every((count) => count === 0),
  )
  t.deepEqual(await witness.do('places'), nodes)
  const after = await SharingProcess.start(t, { file, nodes })
  await after.do('report', ['c', { cpu: 12 }])
  t.is((await witness.do<number[]>('cpus'))[2], 12)
})

test('where the last process is killed, the next one finds nothing of it but the file', async (t) => {
  const file = filePath()
  const before = await SharingProcess.start(t, { file, nodes: ['a', 'b'] })
  await before.do('acquire', 4)
  await before.do('report', ['a', { cpu: 90 }])
  await before.kill()
  const after = await SharingProcess.start(t, { file, nodes: ['a'] })
  t.deepEqual(await after.do('inFlight'), [0])
  t.deepEqual(await after.do('cpus'), [undefined])
  t.deepEqual(await after.do('places'), ['a'])
})
