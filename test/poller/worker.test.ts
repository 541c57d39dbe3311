import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { WorkerHost } from '../../dist/poller/worker-host.js'
import { processClock } from '../../dist/process-clock.js'
import { Table } from '../../dist/table/table.js'
import type { RemoteErrorEvent } from '../../dist/telemetry.js'
import {
  httpAsker,
  httpPoller,
  idOf,
  readingOf,
  reporting,
  serve,
  serveTcp,
  withResolvers,
} from './agents.js'

// Resolves when the poller has done this many cycles more.
function cycles() {
  let waiting: { left: number; resolve: () => void } | undefined
  return {
    onCycle: () => {
      if (waiting !== undefined && --waiting.left === 0) waiting.resolve()
    },
    more: (left: number) =>
      new Promise<void>((resolve) => {
        waiting = { left, resolve }
      }),
  }
}

test('the polling thread writes the readings, dated back by their age', async (t) => {
  const [a, b] = [await serve(t, reporting(12.5)), await serve(t, reporting(80, 60_000))]
  const { table, poller } = httpPoller(t)
  poller.setMembers([table.claim(idOf(a)), table.claim(idOf(b))])
  poller.start()
  await poller.ready
  t.is(readingOf(table, idOf(a))?.cpu, 12.5)
  t.is(readingOf(table, idOf(b))?.cpu, 80)
  t.true((readingOf(table, idOf(b))?.age ?? 0) >= 60_000)
  t.is(table.publications, 1)
})

test('the fast and the right are read, whatever all the others do', async (t) => {
  const events: RemoteErrorEvent[] = []
  const listener = (event: unknown) => {
    if ((event as RemoteErrorEvent).balancer === 'mixed') events.push(event as RemoteErrorEvent)
  }
  subscribe('idlest:poll:remote-error', listener)
  t.teardown(() => unsubscribe('idlest:poll:remote-error', listener))
  const right = await serve(t, reporting(33))
  const silent = await serve(t, () => {})
  const slow = await serve(t, (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  })
  const broken = await serve(t, (_, response) => response.end('{'))
  const closing = await serveTcp(t, (socket) => socket.end())
  const ids = [...[right, silent, slow, broken, closing].map(idOf), '127.0.0.1:1', 'no host']
  const expected = [undefined, 'exit', 'exit', 'error', 'exit', 'exit', 'error'].join()
  const reached = withResolvers<string>()
  // On a busy machine the first cycles may time out as a whole: what counts is what they come to.
  const onCycle = () => {
    const kinds = new Map(events.splice(0).map(({ node, kind }) => [node, kind]))
    const seen = ids.map((id) => kinds.get(id)).join()
    if (seen === expected) reached.resolve(seen)
    else t.log(seen)
  }
  const { table, poller } = httpPoller(t, { name: 'mixed', timeout: 500, onCycle })
  poller.setMembers(ids.map((id) => table.claim(id)))
  poller.start()
  t.is(await reached.promise, expected)
  t.is(readingOf(table, idOf(right))?.cpu, 33)
  const { cycles, asked, stored, exit, error } = poller.counters
  t.is(asked, 7 * cycles)
  t.is(stored + exit + error, asked)
})

test('several pollers share the polling thread, each over its own table', async (t) => {
  const server = await serve(t, reporting(20))
  const pollers = [httpPoller(t), httpPoller(t), httpPoller(t)]
  for (const { table, poller } of pollers) {
    poller.setMembers([table.claim(idOf(server))])
    poller.start()
  }
  await Promise.all(pollers.map(({ poller }) => poller.ready))
  for (const { table } of pollers) t.is(readingOf(table, idOf(server))?.cpu, 20)
})

test('members are spread over several polling threads', async (t) => {
  const servers = await Promise.all([1, 2, 3, 4, 5].map((cpu) => serve(t, reporting(cpu))))
  const { table, poller } = httpPoller(t, { workers: 3 })
  poller.setMembers(servers.map((server) => table.claim(idOf(server))))
  poller.start()
  await poller.ready
  t.deepEqual(
    servers.map((server) => readingOf(table, idOf(server))?.cpu),
    [1, 2, 3, 4, 5],
  )
  t.is(table.publications, 1)
})

test('a table that grows while it is polled is written beyond its first size', async (t) => {
  const server = await serve(t, reporting(44))
  const { onCycle, more } = cycles()
  const { table, poller } = httpPoller(t, { onCycle })
  const first = table.claim('127.0.0.1:1')
  poller.setMembers([first])
  poller.start()
  await poller.ready
  for (let filler = 0; filler < 200; filler++) table.claim(`filler-${filler}`)
  poller.setMembers([first, table.claim(idOf(server))])
  await more(2)
  t.is(readingOf(table, idOf(server))?.cpu, 44)
})

test('members that leave are asked no more, those that join are', async (t) => {
  const asked = [0, 0]
  const servers = await Promise.all(
    [0, 1].map((index) =>
      serve(t, (request, response) => {
        asked[index] = (asked[index] ?? 0) + 1
        reporting(10)(request, response as never)
      }),
    ),
  )
  const { onCycle, more } = cycles()
  const { table, poller } = httpPoller(t, { onCycle })
  const [a, b] = servers.map((server) => table.claim(idOf(server)))
  if (a === undefined || b === undefined) return
  poller.setMembers([a])
  poller.start()
  await poller.ready
  poller.setMembers([b])
  await more(2)
  const before = asked[0]
  await more(2)
  t.is(asked[0], before)
  t.true((asked[1] ?? 0) >= 2)
})

test('a member that leaves during a round is not waited for', async (t) => {
  const asked = withResolvers<void>()
  const silent = await serve(t, () => asked.resolve())
  const { table, poller } = httpPoller(t, { timeout: 60_000 })
  poller.setMembers([table.claim(idOf(silent))])
  poller.start()
  await asked.promise
  poller.setMembers([])
  await poller.ready
  t.like(poller.counters, { cycles: 1, left: 1, exit: 0 })
})

test('closing during a poll closes its connections and ends at once', async (t) => {
  const asked = withResolvers<void>()
  const closed = withResolvers<void>()
  const silent = await serve(t, (request) => {
    request.socket.on('close', () => closed.resolve())
    asked.resolve()
  })
  const { table, poller } = httpPoller(t, { timeout: 60_000 })
  poller.setMembers([table.claim(idOf(silent))])
  poller.start()
  await asked.promise
  await Promise.all([poller.close(), poller.close()])
  await closed.promise
  await t.throwsAsync(poller.ready, { code: 'IDLEST_CLOSED' })
  t.is(table.publications, 0)
})

test('a poller on a clock of its own asks over HTTP too, on this thread', async (t) => {
  const server = await serve(t, reporting(64))
  const clock = { ...processClock }
  const table = new Table(clock)
  const { poller } = httpPoller(t, { table, clock })
  poller.setMembers([table.claim(idOf(server)), table.claim('no host')])
  poller.start()
  await poller.ready
  t.is(readingOf(table, idOf(server))?.cpu, 64)
  t.like(poller.counters, { stored: 1, error: 1 })
})

/** An asker over threads that the test can end. */
function crashable(t: ExecutionContext) {
  const workers: Worker[] = []
  const host = new WorkerHost({
    clock: processClock,
    spawn: () => {
      const worker = new Worker(new URL('../../dist/poller/polling-thread.js', import.meta.url), {
        execArgv: [],
      })
      workers.push(worker)
      return worker
    },
  })
  const table = new Table(processClock)
  const asker = httpAsker(table, [host])
  t.teardown(() => asker.close())
  return { workers, host, table, asker }
}

test('a crash of the thread ends the round with its members failed, and the next round is answered', async (t) => {
  const asked = withResolvers<void>()
  let answering = false
  const server = await serve(t, (request, response) => {
    if (answering) reporting(71)(request, response as never)
    else asked.resolve()
  })
  const { workers, host, table, asker } = crashable(t)
  const entry = table.claim(idOf(server))
  asker.setMembers([entry])
  const round = asker.round(60_000)
  await asked.promise
  await workers[0]?.terminate()
  const { failed, stored } = await round
  t.is(stored, 0)
  t.deepEqual(
    failed.map(({ node, kind }) => [node, kind]),
    [[idOf(server), 'exit']],
  )
  answering = true
  // There is no thread at this moment: the round waits for the next one.
  t.like(await asker.round(60_000), { asked: 1, stored: 1 })
  t.is(readingOf(table, idOf(server))?.cpu, 71)
  t.is(workers.length, 2)
  t.is(host.restarts, 1)
})

test('of a round that the thread takes with it, readings that were written count as stored', async (t) => {
  const servers = [await serve(t, reporting(71)), await serve(t, () => {})]
  const { workers, table, asker } = crashable(t)
  const [answers, hangs] = servers.map((server) => table.claim(idOf(server)))
  if (answers === undefined || hangs === undefined) return
  asker.setMembers([answers, hangs])
  const round = asker.round(60_000)
  while (readingOf(table, answers.id) === undefined) await new Promise((resolve) => setImmediate(resolve))
  await workers[0]?.terminate()
  const { asked, stored, failed } = await round
  t.deepEqual([asked, stored], [2, 1])
  t.like(failed, [{ node: hangs.id, kind: 'exit', thread: true }])
  t.is(failed.length, 1)
})

test('members that change while there is no thread are known to the next one', async (t) => {
  const servers = [await serve(t, reporting(1)), await serve(t, reporting(2))]
  const { workers, table, asker } = crashable(t)
  const [a, b] = servers.map((server) => table.claim(idOf(server)))
  if (a === undefined || b === undefined) return
  asker.setMembers([a])
  await asker.round(60_000)
  await workers[0]?.terminate()
  asker.setMembers([b])
  t.like(await asker.round(60_000), { asked: 1, stored: 1 })
  t.is(readingOf(table, b.id)?.cpu, 2)
})

test('a thread that says nothing is not waited for beyond the time-out', async (t) => {
  const { workers, table, asker } = crashable(t)
  asker.setMembers([table.claim('127.0.0.1:1')])
  const started = asker.round(100)
  // Hangs in the start of the thread: nothing is ever answered.
  workers[0]?.removeAllListeners('message')
  const { failed } = await started
  t.like(failed, [{ kind: 'exit' }])
})
