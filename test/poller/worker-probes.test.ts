import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { createBalancer, createTable, prequal } from '../../dist/index.js'
import type { Answer } from '../../dist/poller/answer.js'
import { LocalProbes } from '../../dist/poller/local-probes.js'
import { Probes } from '../../dist/poller/probes.js'
import { Targets } from '../../dist/poller/targets.js'
import { httpTransport } from '../../dist/poller/transports/http.js'
import { WorkerHost } from '../../dist/poller/worker-host.js'
import { WorkerProbes } from '../../dist/poller/worker-probes.js'
import { processClock } from '../../dist/process-clock.js'
import { type Entry, Table } from '../../dist/table/table.js'
import { idOf, serve } from './agents.js'

const flights = (inFlight: number, latency: number) =>
  JSON.stringify({ named_metrics: { in_flight: inFlight, latency_ms: latency } })

// A thread takes seconds to load where the machine is busy.
function setUp(t: ExecutionContext, timeout = 60_000) {
  const workers: Worker[] = []
  const messages: string[] = []
  const host = new WorkerHost({
    clock: processClock,
    spawn: () => {
      const worker = new Worker(new URL('../../dist/poller/polling-thread.js', import.meta.url), {
        execArgv: [],
      })
      const post = worker.postMessage.bind(worker)
      worker.postMessage = (message: { type: string }) => {
        messages.push(message.type)
        post(message)
      }
      workers.push(worker)
      return worker
    },
  })
  const table = new Table(processClock)
  const probes = new Probes(
    new Targets(httpTransport()),
    new LocalProbes(table.memory, processClock, timeout),
    new WorkerProbes(table.memory.buffer as SharedArrayBuffer, host, timeout),
  )
  t.teardown(() => probes.close())
  const ask = (entry: Entry) => new Promise<Answer>((resolve) => probes.ask(entry, resolve))
  return { workers, messages, table, probes, ask }
}

test('nodes are asked by the polling thread: those of one turn in one message', async (t) => {
  const { table, messages, ask } = setUp(t)
  const servers = [
    await serve(t, (_, response) => response.end(flights(3, 12.5))),
    await serve(t, (_, response) => response.end(flights(4, 1))),
    await serve(t, (_, response) => response.end('{')),
  ]
  const entries = [...servers.map(idOf), '127.0.0.1:1', 'no host'].map((id) => table.claim(id))
  const answers = await Promise.all(entries.map(ask))
  t.deepEqual(
    answers.map((answer) => (answer.kind === 'report' ? answer.report : answer.kind)),
    [{ inFlight: 3, latency: 12.5 }, { inFlight: 4, latency: 1 }, 'error', 'exit', 'error'],
  )
  t.deepEqual(messages, ['open', 'members', 'probe'])
  await ask(entries[0] as Entry)
  t.deepEqual(messages.slice(3), ['probe'])
})

test('a probe that is not answered ends by its time-out, and the next one is another', async (t) => {
  const { table, ask } = setUp(t, 100)
  let silent = true
  const server = await serve(t, (_, response) => {
    if (!silent) response.end(flights(1, 1))
  })
  const entry = table.claim(idOf(server))
  const answer = await ask(entry)
  t.true(answer.kind === 'exit' && /no answer within 100 ms|no word/.test(answer.reason))
  silent = false
  // On a busy machine 100 ms may be too short for the first.
  let next = await ask(entry)
  for (let i = 0; i < 50 && next.kind !== 'report'; i++) next = await ask(entry)
  t.is(next.kind, 'report')
})

test('a node that left settles at once, and may come back', async (t) => {
  const { table, probes, ask } = setUp(t)
  let silent = true
  const server = await serve(t, (_, response) => {
    if (!silent) response.end(flights(1, 1))
  })
  const entry = table.claim(idOf(server))
  const asked = ask(entry)
  await turn()
  probes.setMembers([])
  t.deepEqual(await asked, { kind: 'exit', reason: 'the node left' })
  silent = false
  t.is((await ask(entry)).kind, 'report')
})

test('probes under way fail with the thread; the next thread knows the members', async (t) => {
  const { table, workers, ask } = setUp(t)
  let silent = true
  let asked = () => {}
  const reached = new Promise<void>((resolve) => {
    asked = resolve
  })
  const server = await serve(t, (_, response) => {
    asked()
    if (!silent) response.end(flights(1, 1))
  })
  const entry = table.claim(idOf(server))
  const answer = ask(entry)
  await reached
  await workers[0]?.terminate()
  const failed = await answer
  t.true(failed.kind === 'exit' && failed.reason.startsWith('the polling thread ended'))
  silent = false
  let next = await ask(entry)
  for (let i = 0; i < 1_000 && next.kind !== 'report'; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    next = await ask(entry)
  }
  t.is(next.kind, 'report')
})

test('a balancer picks by what the agents of its members say when they are probed', async (t) => {
  const busy = await serve(t, (_, response) => response.end(flights(9, 90)))
  const idle = await serve(t, (_, response) => response.end(flights(0, 5)))
  const balancer = createBalancer({
    nodes: [idOf(busy), idOf(idle)],
    algorithm: prequal({ maxAge: 60_000 }),
    table: createTable(),
    poll: { transport: httpTransport(), startupJitter: 1e9, timeout: 60_000 },
    seed: 1,
  })
  t.teardown(() => balancer.close())
  balancer.select()
  while ((balancer.stats().probes?.answered ?? 0) < 2) await turn()
  t.is(balancer.select(), idOf(idle))
  t.is(balancer.stats().probes?.failed, 0)
})
