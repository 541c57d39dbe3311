import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import type { Done, ToWorker } from '../../dist/poller/protocol.js'
import { threadFlags, type WorkerLike } from '../../dist/poller/start-thread.js'
import { type HostClient, WorkerHost } from '../../dist/poller/worker-host.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import type { WorkerRestartEvent } from '../../dist/telemetry.js'
import { warningsOf } from '../support/warnings.js'
import './agents.js'

class FakeWorker extends EventEmitter implements WorkerLike {
  readonly messages: ToWorker[] = []
  refs = 1
  terminated = false
  postMessage(message: ToWorker): void {
    this.messages.push(message)
  }
  unref(): void {
    this.refs--
  }
  async terminate(): Promise<number> {
    this.terminated = true
    this.emit('exit', 1)
    return 1
  }
  crash(error?: Error): void {
    if (error !== undefined) this.emit('error', error)
    this.emit('exit', 1)
  }
}

class Client implements HostClient {
  readonly heard: string[] = []
  onStart(): void {
    this.heard.push('start')
  }
  onDone({ round }: Done): void {
    this.heard.push(`done ${round}`)
  }
  onFault(): void {
    this.heard.push('fault')
  }
  onCrash(reason: string): void {
    this.heard.push(`crash: ${reason}`)
  }
}

function setUp(t: ExecutionContext) {
  const clock = new VirtualClock()
  const workers: FakeWorker[] = []
  const host = new WorkerHost({
    clock,
    spawn: () => {
      const worker = new FakeWorker()
      workers.push(worker)
      return worker
    },
  })
  const restarts: WorkerRestartEvent[] = []
  const listener = (event: unknown) => restarts.push(event as WorkerRestartEvent)
  subscribe('idlest:worker:restart', listener)
  t.teardown(() => unsubscribe('idlest:worker:restart', listener))
  const last = () => workers.at(-1) as FakeWorker
  return { clock, workers, host, restarts, last }
}

test.serial('the thread starts with the first user, unreferenced, and serves all', (t) => {
  const { host, workers } = setUp(t)
  t.is(workers.length, 0)
  const first = host.attach(new Client())
  const second = host.attach(new Client())
  t.not(first, second)
  t.is(workers.length, 1)
  t.is(workers[0]?.refs, 0)
})

test.serial('the thread stops with the last user, and starts anew for the next', async (t) => {
  const { host, workers, clock } = setUp(t)
  const client = new Client()
  const first = host.attach(client)
  const second = host.attach(new Client())
  await host.detach(first)
  t.false(workers[0]?.terminated)
  t.deepEqual(workers[0]?.messages, [{ type: 'close', poller: first }])
  await host.detach(second)
  await host.detach(second)
  t.true(workers[0]?.terminated)
  t.is(clock.pending, 0)
  t.deepEqual(client.heard, [])
  host.attach(new Client())
  t.is(workers.length, 2)
})

test.serial('what the thread says reaches the poller that it is for', (t) => {
  const { host, last } = setUp(t)
  const [a, b] = [new Client(), new Client()]
  host.attach(a)
  const number = host.attach(b)
  last().emit('message', { type: 'done', poller: number, round: 7 })
  last().emit('message', { type: 'done', poller: 99, round: 7 })
  t.deepEqual([a.heard, b.heard], [[], ['done 7']])
})

test.serial('a thread is waited for until it has loaded, crashed or was stopped', async (t) => {
  const { host, last } = setUp(t)
  let number = host.attach(new Client())
  const order: string[] = []
  const wait = (name: string) => host.ready(number).then(() => order.push(name))
  const first = wait('loaded')
  order.push('waiting')
  last().emit('message', { type: 'ready', poller: number })
  await first
  await wait('at once')
  last().crash()
  await wait('no thread')
  await host.detach(number)
  number = host.attach(new Client())
  const crashing = wait('crashed')
  order.push('waiting')
  last().crash()
  await crashing
  t.deepEqual(order, ['waiting', 'loaded', 'at once', 'no thread', 'waiting', 'crashed'])
})

test.serial('a thread that never loads is waited for 10 s', async (t) => {
  const { host, clock } = setUp(t)
  const number = host.attach(new Client())
  let waited = false
  host.ready(number).then(() => {
    waited = true
  })
  await clock.advance(9_999)
  t.false(waited)
  await clock.advance(1)
  t.true(waited)
})

test.serial('a crash is told to all users and starts the thread again after 100 ms', async (t) => {
  const { host, last, workers, clock, restarts } = setUp(t)
  const [a, b] = [new Client(), new Client()]
  host.attach(a)
  host.attach(b)
  const error = new Error('out of memory')
  last().crash(error)
  t.deepEqual(restarts, [{ restarts: 1, delay: 100, error }])
  t.false(host.post({ type: 'close', poller: 1 }))
  await clock.advance(99)
  t.is(workers.length, 1)
  await clock.advance(1)
  t.is(workers.length, 2)
  t.is(last().refs, 0)
  for (const { heard } of [a, b]) t.deepEqual(heard, ['crash: out of memory', 'start'])
})

test.serial(
  'the delay doubles with each crash in a row up to 10 s, and begins anew after 30 s of health',
  async (t) => {
    const { host, last, clock, restarts } = setUp(t)
    host.attach(new Client())
    for (let crash = 0; crash < 9; crash++) {
      last().crash()
      await clock.advance(10_000)
    }
    t.deepEqual(
      restarts.map(({ delay }) => delay),
      [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000],
    )
    await clock.advance(30_000)
    last().crash()
    t.is(restarts.at(-1)?.delay, 100)
    t.is(restarts.at(-1)?.restarts, 10)
    t.is(host.restarts, 10)
  },
)

test.serial('crashes in a row make one process warning', async (t) => {
  // Those of the tests before are told in a later turn.
  await new Promise((resolve) => setImmediate(resolve))
  const warnings: string[] = []
  const listener = (warning: Error & { code?: string }) => warnings.push(String(warning.code))
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  const { host, last, clock } = setUp(t)
  host.attach(new Client())
  for (let crash = 0; crash < 4; crash++) {
    last().crash()
    await clock.advance(1_000)
  }
  t.deepEqual(warnings, ['IDLEST_WORKER_RESTART'])
})

test.serial('a thread that can’t be made counts as crashed', async (t) => {
  const clock = new VirtualClock()
  let tries = 0
  const host = new WorkerHost({
    clock,
    spawn: () => {
      if (++tries < 3) throw new Error('no threads left')
      return new FakeWorker()
    },
  })
  const client = new Client()
  host.attach(client)
  await clock.advance(100)
  t.deepEqual(client.heard, ['crash: no threads left'])
  await clock.advance(200)
  t.deepEqual(client.heard, ['crash: no threads left', 'start'])
  t.is(tries, 3)
})

test.serial('the last user leaving between crash and restart cancels the restart', async (t) => {
  const { host, last, workers, clock } = setUp(t)
  const number = host.attach(new Client())
  last().crash()
  await host.detach(number)
  t.is(clock.pending, 0)
  await clock.advance(60_000)
  t.is(workers.length, 1)
})

test.serial('a crash of a thread that was stopped means nothing', async (t) => {
  const { host, last, workers, clock, restarts } = setUp(t)
  await host.detach(host.attach(new Client()))
  last().crash(new Error('late'))
  await clock.advance(60_000)
  t.deepEqual(restarts, [])
  t.is(workers.length, 1)
})

const missing = Object.assign(new Error("Cannot find module '/app/polling-thread.js'"), {
  code: 'MODULE_NOT_FOUND',
})

/** A host whose thread can't be had, and what it is told by others. */
function withoutThread(t: ExecutionContext, spawn: () => WorkerLike) {
  const clock = new VirtualClock()
  const standIns: FakeWorker[] = []
  const host = new WorkerHost({
    clock,
    spawn,
    standIn: () => {
      const worker = new FakeWorker()
      standIns.push(worker)
      return worker
    },
  })
  const warnings = warningsOf(t, 'IDLEST_NO_POLLING_THREAD', 'idlest')
  return { host, clock, standIns, warnings }
}

test.serial(
  'where the program of the thread is not there, something else takes its place at once',
  async (t) => {
    const thread = new FakeWorker()
    const { host, clock, standIns, warnings } = withoutThread(t, () => thread)
    const client = new Client()
    const number = host.attach(client)
    let ready = false
    const waiting = host.ready(number).then(() => {
      ready = true
    })
    thread.crash(missing)
    t.deepEqual(client.heard, ['start'])
    t.is(standIns.length, 1)
    t.is(host.restarts, 0)
    t.is(clock.pending, 1)
    t.false(ready)
    standIns[0]?.emit('message', { type: 'ready', poller: number })
    await waiting
    // Its own end is that of a thread.
    standIns[0]?.crash(missing)
    await clock.advance(100)
    t.deepEqual(client.heard, ['start', "crash: Cannot find module '/app/polling-thread.js'", 'start'])
    t.is(standIns.length, 2)
    t.is(warnings.length, 1)
    t.regex(warnings[0] ?? '', /polls on the thread that picks.*make idlest\/polling-thread an entry/)
  },
)

test.serial(
  'where no thread may be started, something else takes its place, and it is warned of once',
  async (t) => {
    const { host, standIns, warnings } = withoutThread(t, () => {
      throw Object.assign(new Error('Access to this API has been restricted'), { code: 'ERR_ACCESS_DENIED' })
    })
    const client = new Client()
    host.attach(client)
    t.deepEqual(client.heard, [])
    t.is(standIns.length, 1)
    await new Promise((resolve) => setImmediate(resolve))
    t.deepEqual(warnings, [])
    t.true(host.post({ type: 'close', poller: 7 }))
    t.deepEqual(standIns[0]?.messages, [{ type: 'close', poller: 7 }])
  },
)

test.serial(
  'where its error has no code, as in Deno, the message says that its program is not there',
  async (t) => {
    const threads: FakeWorker[] = []
    const { host, clock, standIns } = withoutThread(t, () => {
      const thread = new FakeWorker()
      threads.push(thread)
      return thread
    })
    host.attach(new Client())
    threads[0]?.crash(new Error("Cannot find module '/app/another.js'"))
    t.is(host.restarts, 1)
    await clock.advance(100)
    threads[1]?.crash(new Error(missing.message))
    t.is(host.restarts, 1)
    t.is(standIns.length, 1)
  },
)

test('a polling thread has no preloads, and yet the flags that connections go by', async (t) => {
  t.is(threadFlags(['--expose-gc', '--tls-min-v1.3']), undefined)
  t.deepEqual(threadFlags(['--import', 'tsx', '--expose-gc', '--title=x']), [])
  const flags = [
    ...['--tls-min-v1.3', '--tls-max-v1.3', '--max-http-header-size=9000', '--insecure-http-parser'],
    ...['--dns-result-order', 'ipv4first', '--no-network-family-autoselection'],
    '--network-family-autoselection-attempt-timeout=500',
  ]
  t.deepEqual(threadFlags(['-r', './preload.cjs', ...flags, '--max-old-space-size=99']), flags)
  // Node.js takes them all; Bun and Deno have other flags.
  if (process.versions.bun !== undefined || process.versions.deno !== undefined) return
  const program = `
    const { parentPort } = require('node:worker_threads')
    parentPort.postMessage([require('node:dns').getDefaultResultOrder(), require('node:tls').DEFAULT_MIN_VERSION])`
  const thread = new Worker(program, { eval: true, execArgv: flags })
  const [told] = await once(thread, 'message')
  t.deepEqual(told, ['ipv4first', 'TLSv1.3'])
})

test.serial(
  'exceptions of a thread that goes on are counted, published and passed to its users, and warned of once',
  async (t) => {
    const { host, last, workers } = setUp(t)
    const [one, other] = [new Client(), new Client()]
    for (const client of [one, other]) host.attach(client)
    const events: unknown[] = []
    const listener = (event: unknown) => events.push(event)
    subscribe('idlest:worker:fault', listener)
    t.teardown(() => unsubscribe('idlest:worker:fault', listener))
    const warnings = warningsOf(t, 'IDLEST_WORKER_FAULT', 'something went wrong')
    for (const reason of ['first', 'second']) last().emit('message', { type: 'fault', reason })
    await new Promise((resolve) => setImmediate(resolve))
    t.is(host.faults, 2)
    t.deepEqual(events, [
      { faults: 1, reason: 'first' },
      { faults: 2, reason: 'second' },
    ])
    t.is(warnings.length, 1)
    t.is(workers.length, 1)
    t.is(host.restarts, 0)
    for (const { heard } of [one, other]) t.deepEqual(heard, ['fault', 'fault'])
  },
)
