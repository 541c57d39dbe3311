import { execFile, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { type Agent, createAgent } from '../../dist/agent/index.js'
import { ClosedError, ListenError } from '../../dist/errors.js'
import { readOrcaJson } from '../../dist/reports/orca-json.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { moduleFile } from '../support/module-file.js'
import { ask, rawConnection, startAgent } from './support.js'

test("the report has ORCA's names, and the age of the sample when answered", async (t) => {
  const { agent, clock } = await startAgent(t, { sampleInterval: 10_000 })
  t.is((await ask(agent.url)).body, '{"cpu_utilization":0.375,"age_ms":0,"named_metrics":{"idlest_state":0}}')
  await clock.advance(1_234)
  t.is(
    (await ask(agent.url)).body,
    '{"cpu_utilization":0.375,"age_ms":1234,"named_metrics":{"idlest_state":0}}',
  )
  t.deepEqual(readOrcaJson((await ask(agent.url)).body), { cpu: 37.5, state: 'up', age: 1234 })
})

test('it listens on loopback at a free port, and says where', async (t) => {
  const { agent } = await startAgent(t)
  t.is(agent.host, '127.0.0.1')
  t.true(agent.port > 0)
  t.is(agent.url, `http://127.0.0.1:${agent.port}/report`)
})

test('path and host can be chosen', async (t) => {
  const { agent } = await startAgent(t, { host: 'localhost', path: '/load/now.json' })
  t.is(agent.url, `http://localhost:${agent.port}/load/now.json`)
  t.is((await ask(agent.url)).status, 200)
})

test('before the first sample the answer is 503', async (t) => {
  const values = [undefined, 50]
  const { agent, clock } = await startAgent(t, { sampler: () => values.shift() })
  const early = await ask(agent.url)
  t.is(early.status, 503)
  t.is(early.body, '{"error":"no sample yet"}')
  await clock.advance(100)
  t.is((await ask(agent.url)).body, '{"cpu_utilization":0.5,"age_ms":0,"named_metrics":{"idlest_state":0}}')
  t.is(agent.counters.server.notReady, 1)
  t.is(agent.counters.server.answered, 1)
})

test('a state by hand is told over HTTP at once, with 200, also before the first sample', async (t) => {
  const values = [undefined, 50]
  const { agent, clock } = await startAgent(t, { sampler: () => values.shift() })
  for (const [say, state] of [
    ['drain', 'drain'],
    ['maint', 'maint'],
    ['down', 'down'],
  ] as const) {
    agent[say]()
    const { status, body } = await ask(agent.url)
    t.is(status, 200)
    t.deepEqual(readOrcaJson(body), { state, age: 0 })
  }
  agent.ready()
  t.is((await ask(agent.url)).status, 503)
  agent.drain()
  await clock.advance(100)
  t.deepEqual(readOrcaJson((await ask(agent.url)).body), { cpu: 50, state: 'drain', age: 0 })
})

test('it samples each second by default, and never for a request', async (t) => {
  let samples = 0
  const { agent, clock } = await startAgent(t, {
    sampler: () => {
      samples++
      return samples
    },
  })
  t.is(samples, 1)
  for (let i = 0; i < 20; i++) await ask(agent.url)
  t.is(samples, 1)
  await clock.advance(999)
  t.is(samples, 1)
  await clock.advance(1)
  t.is(samples, 2)
  await clock.advance(10_000)
  t.is(samples, 12)
  t.is(agent.counters.sampling.values, 12)
})

test('a slow sampler: samples never overlap, and the age counts from when the sampler was asked', async (t) => {
  const clock = new VirtualClock()
  let running = 0
  let most = 0
  const { agent } = await startAgent(t, {
    clock,
    sampleInterval: 1_000,
    sampler: async () => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_500))
      running--
      return 20
    },
  })
  await clock.advance(1_500)
  t.is(
    (await ask(agent.url)).body,
    '{"cpu_utilization":0.2,"age_ms":1500,"named_metrics":{"idlest_state":0}}',
  )
  await clock.advance(10_000)
  t.is(most, 1)
  // Asked at 0, 2,500, 5,000, 7,500 and 10,000; the fifth answer comes at 11,500.
  t.is(agent.counters.sampling.values, 5)
})

test('while the sampler fails, the last sample is told with its growing age', async (t) => {
  let broken = false
  const { agent, clock } = await startAgent(t, {
    sampler: () => {
      if (broken) throw new Error('gone')
      return 10
    },
  })
  broken = true
  await clock.advance(60_000)
  t.is(
    (await ask(agent.url)).body,
    '{"cpu_utilization":0.1,"age_ms":60000,"named_metrics":{"idlest_state":0}}',
  )
  t.is(agent.counters.sampling.threw, 60)
  broken = false
  await clock.advance(1_000)
  t.is((await ask(agent.url)).body, '{"cpu_utilization":0.1,"age_ms":0,"named_metrics":{"idlest_state":0}}')
})

test('a sampler that hangs is called once, and requests are answered meanwhile', async (t) => {
  let calls = 0
  const { agent, clock } = await startAgent(t, {
    sampler: () => (++calls === 1 ? 10 : new Promise(() => {})),
  })
  await clock.advance(100_000)
  t.is(calls, 2)
  t.true(agent.counters.sampling.hung > 30)
  t.is(
    (await ask(agent.url)).body,
    '{"cpu_utilization":0.1,"age_ms":100000,"named_metrics":{"idlest_state":0}}',
  )
})

test('a port in use is a ListenError that says so', async (t) => {
  const { agent } = await startAgent(t)
  const error = await t.throwsAsync(createAgent({ port: agent.port }), { instanceOf: ListenError })
  t.is(error?.code, 'IDLEST_LISTEN')
  t.is(error?.port, agent.port)
  t.is(
    error?.message,
    `can't listen on 127.0.0.1, port ${agent.port}: another socket has this port (EADDRINUSE)`,
  )
})

test('an agent resolves with a report although its sampler has no value the first time', async (t) => {
  const values = [undefined, 50]
  await using agent = await createAgent({ sampler: () => values.shift() })
  const { status, body } = await ask(agent.url)
  t.is(status, 200)
  t.is(readOrcaJson(body).cpu, 50)
  t.is(agent.counters.server.notReady, 0)
})

test('an agent that could not listen stops sampling', async (t) => {
  const { agent } = await startAgent(t)
  const clock = new VirtualClock()
  let samples = 0
  await t.throwsAsync(createAgent({ port: agent.port, clock, sampler: () => samples++ }))
  await clock.advance(10_000)
  t.is(samples, 1)
  t.is(clock.pending, 0)
})

test('close ends the sampling and the listening, and may be called again', async (t) => {
  let samples = 0
  const { agent, clock } = await startAgent(t, { sampler: () => samples++ })
  await Promise.all([agent.close(), agent.close()])
  await agent.close()
  t.is(clock.pending, 0)
  await clock.advance(10_000)
  t.is(samples, 1)
  await t.throwsAsync(ask(agent.url), { code: 'ECONNREFUSED' })
})

test('what a closed agent is told is an error: nobody would hear of it', async (t) => {
  const { agent } = await startAgent(t, {})
  await agent.close()
  const tellings = [
    () => agent.drain(),
    () => agent.maint(),
    () => agent.down(),
    () => agent.ready(),
    () => agent.setWeight(50),
    () => agent.setMaxInFlight(1),
    () => agent.set('mine', 1),
  ]
  for (const tell of tellings) t.throws(tell, { instanceOf: ClosedError, message: 'agent is closed' })
  t.is(agent.state, 'up')
})

/** Closes an agent, and sees that it ends these connections. */
async function closesAll(t: ExecutionContext, agent: Agent, sockets: readonly Socket[]): Promise<void> {
  // A connection is known to the server before a later one is answered.
  await ask(agent.url)
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  await agent.close()
  await closed
  t.true(sockets.every((socket) => socket.destroyed))
}

test('close does not wait for connections that are idle or half sent', async (t) => {
  const { agent } = await startAgent(t)
  const idle = await rawConnection(t, agent.port, 'GET /report HTTP/1.1\r\nhost: a\r\n\r\n')
  await new Promise((resolve) => idle.once('data', resolve))
  await closesAll(t, agent, [idle, await rawConnection(t, agent.port, 'GET /report HTTP/1.1\r\nhos')])
})

test('close does not wait for connections that sent nothing', async (t) => {
  const { agent } = await startAgent(t)
  await closesAll(t, agent, [await rawConnection(t, agent.port)])
})

test('a sample that comes after close is dropped', async (t) => {
  let give: (value: number) => void = () => {}
  const { agent, clock } = await startAgent(t, {
    sampler: () =>
      new Promise<number>((resolve) => {
        give = resolve
      }),
  })
  await agent.close()
  give(5)
  await clock.advance(10_000)
  t.is(clock.pending, 0)
})

test('an agent closes at the end of its scope', async (t) => {
  let url: string
  {
    await using agent = await createAgent({ clock: new VirtualClock(), sampler: () => 1 })
    url = agent.url
    t.is((await ask(url)).status, 200)
  }
  await t.throwsAsync(ask(url), { code: 'ECONNREFUSED' })
})

const AGENT = JSON.stringify(new URL('../../dist/agent/index.js', import.meta.url))

test('an agent keeps its process alive', async (t) => {
  const script = `import { createAgent } from ${AGENT}
    console.log((await createAgent({ sampler: () => 5 })).url)`
  const child = spawn(process.execPath, [moduleFile(t, script)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  const [url] = await new Promise<string[]>((resolve) =>
    createInterface(child.stdout).once('line', (...lines) => resolve(lines)),
  )
  // Long enough for a process with nothing to do to end.
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.is((await ask(url ?? '')).status, 200)
  t.is(child.exitCode, null)
})

test('with unref an agent does not keep its process alive, nor does a connection to it', async (t) => {
  const script = `import { createAgent } from ${AGENT}
    import { connect } from 'node:net'
    const agent = await createAgent({ sampler: () => 5, unref: true })
    const client = connect(agent.port, agent.host)
    client.write('GET /report HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n')
    client.once('data', (data) => {
      client.unref()
      console.log(String(data).split('\\r\\n')[0])
    })`
  const { stdout } = await promisify(execFile)(process.execPath, [moduleFile(t, script)])
  t.is(stdout.trim(), 'HTTP/1.1 200 OK')
})
