import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type Agent, type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { agentCheckTransport, createBalancer } from '../../dist/index.js'
import { eventually, Haproxy, hasHaproxy } from './haproxy.js'

/** A server, its agent, and how busy the agent finds it. */
interface Backend {
  readonly name: string
  readonly agent: Agent
  readonly port: number
  readonly agentPort: number
  load: number | undefined
}

async function startBackend(
  t: ExecutionContext,
  name: string,
  options: AgentOptions = {},
  load: number | undefined = 0,
): Promise<Backend> {
  const server = createServer((_request, response) => response.end(name)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const state = { load }
  const agent = await createAgent({
    http: false,
    agentCheck: {},
    sampler: () => state.load,
    sampleInterval: 20,
    ...options,
  })
  t.teardown(() => agent.close())
  return Object.assign(state, { name, agent, port, agentPort: agent.agentCheck?.port ?? 0 })
}

/** Another agent on the port of one that was closed; somebody else may have it for a moment. */
async function startAgain(port: number): Promise<Agent> {
  const start = () => createAgent({ http: false, agentCheck: { port }, sampler: () => 10 })
  return (await eventually(() => start().catch(() => undefined), Boolean)) ?? start()
}

/** An agent as people have it: a shell script behind a port, started for each connection; gives the port. */
async function startStock(t: ExecutionContext, script: string): Promise<number> {
  const inetd = `require('node:net').createServer((socket) => {
      socket.on('error', () => {})
      const child = require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(script)}])
      child.stdout.pipe(socket)
    }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const child = spawn(process.execPath, ['-e', inetd], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  return Number(await new Promise((resolve) => child.stdout.once('data', resolve)))
}

/** What a balancer hears of the one node whose agent is at a port: idle CPU, as such agents say. */
async function cpuAt(port: number): Promise<number | undefined> {
  const transport = agentCheckTransport({ port, weight: 'idle' })
  await using balancer = createBalancer({ nodes: ['127.0.0.1:80'], poll: { transport, startupJitter: 0 } })
  await balancer.ready()
  return balancer.snapshot()[0]?.report.cpu
}

/** Who answered how many of `count` requests. */
async function answers(haproxy: Haproxy, count: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (let i = 0; i < count; i++) {
    const { body } = await haproxy.get()
    counts[body] = (counts[body] ?? 0) + 1
  }
  return counts
}

const UP = 'no check'
const DRAIN = 'DRAIN (agent)'
const MAINT = 'MAINT'
const DOWN = 'DOWN (agent)'

const SAYS = [
  ['drain', DRAIN],
  ['maint', MAINT],
  ['down', DOWN],
  ['ready', UP],
] as const

test("the guide's server line is the one that is tested", (t) => {
  const guide = readFileSync(new URL('../../.github/docs/with-haproxy.md', import.meta.url), 'utf8')
  t.true(/server \w+ \S+ weight 100 agent-check agent-addr \S+ agent-port \d+ agent-inter \w+/.test(guide))
})

// As one would write it with sar or /proc/stat, but with a figure that is known.
const STOCK = 'idle=42; printf "up %d%%\\n" "$idle"'

test('a balancer reads a stock agent script, and an agent of ours, as HAProxy does', async (t) => {
  t.is(await cpuAt(await startStock(t, STOCK)), 58)
  const { agentPort } = await startBackend(t, 'one', {}, 27)
  t.is(await cpuAt(agentPort), 27)
})

if (hasHaproxy) {
  test('the same script is a weight of 42 there', async (t) => {
    const { port } = await startBackend(t, 'one')
    const agentPort = await startStock(t, STOCK)
    const haproxy = await Haproxy.start(t, [{ name: 'one', port, agentPort }])
    await eventually(
      () => haproxy.weight('one'),
      (weight) => weight === 42,
    )
    t.is(await haproxy.status('one'), UP)
  })

  test('weights in HAProxy follow what agents find, and so does the traffic', async (t) => {
    const one = await startBackend(t, 'one')
    const two = await startBackend(t, 'two')
    const haproxy = await Haproxy.start(t, [one, two])
    const asked = () => (one.agent.counters.agentCheck?.answered ?? 0) > 2
    await eventually(async () => asked(), Boolean)
    t.is(await haproxy.weight('one'), 100)
    t.is(await haproxy.weight('two'), 100)
    t.deepEqual(await answers(haproxy, 120), { one: 60, two: 60 })

    one.load = 80
    await eventually(
      () => haproxy.weight('one'),
      (weight) => weight === 20,
    )
    t.is(await haproxy.weight('two'), 100)
    const { one: busy = 0, two: idle = 0 } = await answers(haproxy, 120)
    t.is(busy + idle, 120)
    t.true(busy >= 15 && busy <= 25, `${busy} of 120 went to the busy server`)

    one.load = 0
    await eventually(
      () => haproxy.weight('one'),
      (weight) => weight === 100,
    )
  })

  test('drain, maint, down and ready do there what they say, whatever was said before', async (t) => {
    const one = await startBackend(t, 'one', {}, 60)
    const haproxy = await Haproxy.start(t, [one])
    for (const [before, from] of SAYS) {
      for (const [say, to] of SAYS) {
        one.agent[before]()
        await eventually(
          () => haproxy.status('one'),
          (status) => status === from,
        )
        one.agent[say]()
        await eventually(
          () => haproxy.status('one'),
          (status) => status === to,
        )
        t.is((await haproxy.get()).status, to === UP ? 200 : 503, `${before}, then ${say}`)
      }
    }
    one.agent.ready()
    await eventually(
      () => haproxy.row('one'),
      ({ status, weight }) => status === UP && weight === '40',
    )
  })

  test('a server that drains gets no new work, and its work goes to the other', async (t) => {
    const one = await startBackend(t, 'one')
    const two = await startBackend(t, 'two')
    const haproxy = await Haproxy.start(t, [one, two])
    one.agent.drain()
    await eventually(
      () => haproxy.status('one'),
      (status) => status === DRAIN,
    )
    t.deepEqual(await answers(haproxy, 20), { two: 20 })
  })

  test('a full server keeps a weight of 1 %; with a weight of its own of 0 it gets nothing', async (t) => {
    const one = await startBackend(t, 'one', {}, 100)
    const haproxy = await Haproxy.start(t, [one])
    await eventually(
      () => haproxy.weight('one'),
      (weight) => weight === 1,
    )
    t.is((await haproxy.get()).body, 'one')
    one.agent.setWeight(0)
    await eventually(
      () => haproxy.status('one'),
      (status) => status === DRAIN,
    )
    one.agent.setWeight(50)
    one.load = 20
    await eventually(
      () => haproxy.row('one'),
      ({ status, weight }) => status === UP && weight === '40',
    )
  })

  test('a limit of requests in flight is one there', async (t) => {
    const one = await startBackend(t, 'one', { maxInFlight: 7 })
    const haproxy = await Haproxy.start(t, [one])
    await eventually(
      () => haproxy.row('one'),
      ({ slim }) => slim === '7',
    )
    t.is((await haproxy.get()).body, 'one')
  })

  test('before the first sample the weight is the configured one, and the server is up', async (t) => {
    const one = await startBackend(t, 'one', { sampler: () => undefined })
    const haproxy = await Haproxy.start(t, [one])
    await eventually(
      async () => one.agent.counters.agentCheck?.notReady ?? 0,
      (count) => count > 2,
    )
    t.is(await haproxy.weight('one'), 100)
    t.is(await haproxy.status('one'), UP)
  })

  test('an agent that goes away changes nothing; one that comes again is heard', async (t) => {
    const one = await startBackend(t, 'one', {}, 70)
    const haproxy = await Haproxy.start(t, [one])
    await eventually(
      () => haproxy.weight('one'),
      (weight) => weight === 30,
    )
    await one.agent.close()
    await eventually(
      () => haproxy.row('one'),
      ({ agent_status = '' }) => agent_status === 'L4CON',
    )
    t.is(await haproxy.weight('one'), 30)
    t.is((await haproxy.get()).body, 'one')
    const again = await startAgain(one.agentPort)
    t.teardown(() => again.close())
    await eventually(
      () => haproxy.weight('one'),
      (weight) => weight === 90,
    )
  })
}
