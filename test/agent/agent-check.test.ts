import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { agentCheckReply, weightPercent } from '../../dist/agent/agent-check-server.js'
import { type Agent, type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { ListenError, OptionError } from '../../dist/errors.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { ask, rawConnection, rawExchange, startAgent, until } from './support.js'

async function startChecked(t: ExecutionContext, options: AgentOptions = {}) {
  const { agent, clock } = await startAgent(t, { agentCheck: {}, ...options })
  const { port = 0 } = agent.agentCheck ?? {}
  return { agent, clock, port, check: (sent = '') => rawExchange(port, sent) }
}

function cutOff(agent: Agent): number {
  return agent.counters.agentCheck?.cut ?? 0
}

test('each connection gets the whole state in one line at once, and is closed', async (t) => {
  const loads = [27.2, 80]
  const { agent, clock, check } = await startChecked(t, { sampler: () => loads.shift() })
  t.is(await check(), 'ready up 73%\n')
  t.is(await check(), 'ready up 73%\n')
  await clock.advance(1_000)
  t.is(await check(), 'ready up 20%\n')
  t.is(agent.counters.agentCheck?.answered, 3)
})

test('it listens on loopback at a free port, and says where', async (t) => {
  const { agent } = await startChecked(t)
  t.is(agent.agentCheck?.host, '127.0.0.1')
  t.true((agent.agentCheck?.port ?? 0) > 0)
  t.not(agent.agentCheck?.port, agent.port)
  t.is((await ask(agent.url)).status, 200)
})

test('before the first sample it says that it is up, and nothing of the weight', async (t) => {
  const { agent, check } = await startChecked(t, { sampler: () => undefined })
  t.is(await check(), 'ready up\n')
  t.is(agent.counters.agentCheck?.notReady, 1)
  agent.drain()
  t.regex(await check(), /^drain\b.*\n$/)
  t.is(agent.counters.agentCheck?.notReady, 1)
})

test('the state by hand is told at once', async (t) => {
  const { agent, check } = await startChecked(t)
  for (const [say, reply] of [
    ['drain', /^drain\b.*\n$/],
    ['ready', /^ready up 63%\n$/],
    ['maint', /^maint\b.*\n$/],
    ['down', /\bdown\b.*\n$/],
    ['ready', /^ready up 63%\n$/],
  ] as const) {
    agent[say]()
    t.regex(await check(), reply)
  }
})

for (const [report, percent] of [
  [{ cpu: 0 }, 100],
  [{ cpu: 27.4 }, 73],
  [{ cpu: 99.4 }, 1],
  [{ cpu: 99.9 }, 1],
  [{ cpu: 100 }, 1],
  [{ cpu: 250 }, 1],
  [{ cpu: 60, application: 10 }, 40],
  [{ cpu: 20, weight: 50 }, 40],
  [{ cpu: 99, weight: 1 }, 1],
  [{ cpu: 20, weight: 0 }, 0],
  [{ cpu: 20, weight: 100 }, 80],
  [{ cpu: 20, weight: 200 }, 160],
  [{ cpu: 0, weight: 30_000 }, 25_600],
  [{ weight: 0 }, 0],
  [{}, undefined],
] as const) {
  test(`of ${JSON.stringify(report)} follows a weight of ${percent} %`, (t) => {
    t.is(weightPercent(report), percent)
  })
}

test('no load and no rounding drains a node that takes work; a weight of 0 does', (t) => {
  for (let load = 0; load <= 300; load += 0.25) {
    t.regex(agentCheckReply({ state: 'up', cpu: load, weight: 0.1 }), /^ready up [1-9]\d*%\n$/)
  }
  t.regex(agentCheckReply({ state: 'up', cpu: 5, weight: 0 }), /^drain|\b0%/)
})

test('a limit goes along', (t) => {
  t.is(agentCheckReply({ state: 'up', cpu: 40, maxInFlight: 30 }), 'ready up 60% maxconn:30\n')
})

test('what a client sends is not looked at', async (t) => {
  const { agent, check } = await startChecked(t)
  for (const sent of ['hello\n', '\0', 'GET / HTTP/1.1\r\n\r\n', 'x'.repeat(4_000)]) {
    t.is(await check(sent), 'ready up 63%\n')
  }
  t.is(agent.counters.agentCheck?.answered, 4)
})

test('a client that floods is cut off, and one that does not end its side too; others are answered', async (t) => {
  const { agent, port, check } = await startChecked(t)
  const flood = await rawConnection(t, port)
  flood.resume()
  flood.write('x'.repeat(1_000_000))
  await new Promise((resolve) => flood.once('close', resolve))
  await until(() => cutOff(agent) === 1)
  const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => half.destroy())
  half.on('error', () => {})
  half.resume()
  await new Promise((resolve) => half.once('end', resolve))
  t.is(await check(), 'ready up 63%\n')
  await until(() => cutOff(agent) === 2)
})

test('a client that resets its connection harms nobody', async (t) => {
  const { port, check } = await startChecked(t)
  for (let i = 0; i < 20; i++) (await rawConnection(t, port, 'x')).resetAndDestroy()
  t.is(await check(), 'ready up 63%\n')
})

test('connections are limited, and what is too many is counted', async (t) => {
  const { agent, port } = await startChecked(t, { agentCheck: { maxConnections: 1 } })
  // On a busy machine the first may be over before the second comes.
  while (agent.counters.agentCheck?.dropped === 0) {
    const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume()
    t.teardown(() => half.destroy())
    half.on('error', () => {})
    await new Promise((resolve) => half.once('end', resolve).once('close', resolve))
    await rawExchange(port, '').catch(() => '')
  }
  t.is(agent.counters.agentCheck?.dropped, 1)
})

test('a port in use is a ListenError, and the other servers are closed again', async (t) => {
  const { agent, port } = await startChecked(t)
  const clock = new VirtualClock()
  const error = await t.throwsAsync(createAgent({ clock, agentCheck: { port } }), { instanceOf: ListenError })
  t.is(error?.port, port)
  t.is(clock.pending, 0)
  // The agent check's port is bound first; where HTTP can't be, it is free again.
  const other = await startChecked(t)
  await other.agent.close()
  const free = other.port
  await t.throwsAsync(createAgent({ clock, port: agent.port, agentCheck: { port: free } }), {
    instanceOf: ListenError,
  })
  const again = await createAgent({ clock, agentCheck: { port: free } })
  t.is(again.agentCheck?.port, free)
  await again.close()
})

test('close ends this port too, with connections on it', async (t) => {
  const { agent, port } = await startChecked(t)
  const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  half.on('error', () => {})
  half.resume()
  await new Promise((resolve) => half.once('end', resolve))
  const closed = new Promise((resolve) => half.once('close', resolve))
  await agent.close()
  half.end()
  await closed
  await t.throwsAsync(rawExchange(port, ''), { code: 'ECONNREFUSED' })
})

for (const [agentCheck, option] of [
  [{ port: 70_000 }, 'agentCheck.port'],
  [{ host: '' }, 'agentCheck.host'],
  [{ prot: 1 }, 'agentCheck.prot'],
  [{ maxConnections: 0 }, 'agentCheck.maxConnections'],
  [9_001, 'agentCheck'],
] as const) {
  test(`agentCheck: ${JSON.stringify(agentCheck)} is refused`, async (t) => {
    const error = await t.throwsAsync(createAgent({ agentCheck } as AgentOptions), {
      instanceOf: OptionError,
    })
    t.is(error?.option, option)
  })
}
