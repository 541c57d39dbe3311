import type { Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type AgentCheckTransportOptions, agentCheckTransport, OptionError } from '../../dist/index.js'
import { AgentCheckMembers, loadOf, SaidState } from '../../dist/poller/agent-check-member.js'
import type { Answer } from '../../dist/poller/answer.js'
import { resolveAgentCheck } from '../../dist/poller/transports/agent-check.js'
import { processClock } from '../../dist/process-clock.js'
import { readAgentCheck } from '../../dist/reports/agent-check.js'
import { httpPoller, idOf, readingOf, serveTcp, withResolvers } from './agents.js'

type Options = Partial<AgentCheckTransportOptions>

// A member that is asked by itself, and what it found wrong.
function memberOf(t: ExecutionContext, id: string, options: Options = {}) {
  const wrong: string[] = []
  const sink = {
    push: () => {},
    bad: (_: unknown, reason: string) => wrong.push(reason),
    unknown: () => {},
    stranger: () => {},
  }
  const makers = new AgentCheckMembers({ clock: processClock, sink, onFault: () => {} })
  const port = Number(id.slice(id.lastIndexOf(':') + 1))
  const target = resolveAgentCheck(id, agentCheckTransport({ port, ...options }).settings)
  const member = makers.make(target, { slot: 0, generation: 0 })
  t.teardown(() => member.close?.())
  return { member, wrong }
}

// An agent that says these lines, one a connection.
function saying(t: ExecutionContext, ...replies: string[]) {
  return serveTcp(t, (socket) => socket.end(replies.shift() ?? ''))
}

function reportOf(answer: Answer): unknown {
  return answer.kind === 'report' ? answer.report : answer
}

const idle = agentCheckTransport({ port: 1, weight: 'idle' }).settings

test('a stock agent that writes idle CPU and a state is read', async (t) => {
  const server = await saying(t, 'ready up 27%\n')
  const { member, wrong } = memberOf(t, idOf(server), { weight: 'idle' })
  t.deepEqual(reportOf(await member.ask()), { cpu: 73, state: 'up' })
  t.deepEqual(wrong, [])
})

for (const [reply, cap, asIdle] of [
  ['75%', { weight: 75 }, { cpu: 25 }],
  ['0%', { weight: 0 }, { cpu: 100 }],
  ['100%', { weight: 100 }, { cpu: 0 }],
  ['300%', { weight: 300 }, {}],
  ['weight:40', { weight: 40 }, { cpu: 60 }],
  ['weight:256', { weight: 256 }, {}],
  ['weight:75%', { weight: 75 }, { cpu: 25 }],
  ['maxconn:30', { maxInFlight: 30 }, { maxInFlight: 30 }],
  ['maxconn:0', { maxInFlight: 0 }, { maxInFlight: 0 }],
  ['75%,maxconn:30,maint,down', { weight: 75, maxInFlight: 30 }, { cpu: 25, maxInFlight: 30 }],
  ['up', {}, {}],
] as const) {
  test(`the reply ${reply} says ${JSON.stringify(cap)}, or ${JSON.stringify(asIdle)} where a percentage is idle CPU`, (t) => {
    const read = readAgentCheck(`${reply}\n`)
    if (read === undefined) return t.fail()
    t.deepEqual(loadOf(read, { weight: 'cap', initialWeight: 100 }), { report: cap })
    t.deepEqual(loadOf(read, idle).report, asIdle)
  })
}

test('an absolute weight is a percentage of the configured one', (t) => {
  const read = readAgentCheck('weight:10\n')
  t.deepEqual(read && loadOf(read, { weight: 'cap', initialWeight: 40 }).report, { weight: 25 })
})

test('what an operator wants and health are kept apart, and the gravest of the two is the state', (t) => {
  const said = new SaidState()
  const after = (reply: string) => {
    const read = readAgentCheck(`${reply}\n`)
    return read && said.after(read)
  }
  t.deepEqual(
    [
      '50%',
      'up',
      'drain',
      'up 50%',
      'down',
      'maint',
      'up',
      'ready',
      'fail',
      'ready 10%',
      'stopped',
      'up',
      'maint down',
      'ready up',
    ].map(after),
    [
      undefined,
      'up',
      'drain',
      'drain',
      'down',
      'down',
      'maint',
      'up',
      'down',
      'down',
      'down',
      'up',
      'down',
      'up',
    ],
  )
})

test('what a reply leaves out stays: the state is told with each report once it is known', async (t) => {
  const server = await saying(t, '50%\n', 'drain\n', '60%\n')
  const { member } = memberOf(t, idOf(server))
  t.deepEqual(reportOf(await member.ask()), { weight: 50 })
  t.deepEqual(reportOf(await member.ask()), { state: 'drain' })
  t.deepEqual(reportOf(await member.ask()), { weight: 60, state: 'drain' })
})

test('words that mean nothing are told, and the others apply', async (t) => {
  const server = await saying(t, 'upp 50% maxconn:many\n')
  const { member, wrong } = memberOf(t, idOf(server))
  t.deepEqual(reportOf(await member.ask()), { weight: 50 })
  t.is(wrong.length, 1)
  t.regex(wrong[0] ?? '', /"upp": an unknown word; "maxconn:many": expected a whole number/)
})

test('more idle time than there is makes nobody the idlest node', async (t) => {
  const server = await saying(t, '999999%\n', 'up weight:256\n')
  const { member, wrong } = memberOf(t, idOf(server), { weight: 'idle' })
  t.deepEqual(await member.ask(), { kind: 'error', reason: '25600 % idle: expected at most 100' })
  t.deepEqual(reportOf(await member.ask()), { state: 'up' })
  t.deepEqual(wrong, ['256 % idle: expected at most 100'])
})

for (const reply of ['\n', '#all is well\n', ' , \r\n']) {
  test(`a reply of no words, ${JSON.stringify(reply)}, changes nothing and is no failure`, async (t) => {
    const { member } = memberOf(t, idOf(await saying(t, reply)))
    t.deepEqual(await member.ask(), { kind: 'heard' })
  })
}

for (const [what, reply, kind, reason] of [
  ['nothing but an unknown word', 'hello\n', 'error', /"hello": an unknown word/],
  ['a number alone, as HAProxy has it', '50\n', 'error', /"50": an unknown word/],
  ['a wrong weight alone', 'weight:300\n', 'error', /weight:300/],
  ['HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'error', /"HTTP\/1.1": an unknown word/],
  ['no line end', 'up', 'exit', /closed before the end of a line/],
  ['nothing', '', 'exit', /closed without a reply/],
  ['a line of more than 1 KiB', `up ${'#'.repeat(2_000)}\n`, 'error', /no line end within 1024 bytes/],
] as const) {
  test(`a reply of ${what} is ${kind === 'exit' ? 'an exit' : 'an error'}`, async (t) => {
    const { member, wrong } = memberOf(t, idOf(await saying(t, reply)))
    const answer = await member.ask()
    t.is(answer.kind, kind)
    t.regex('reason' in answer ? answer.reason : '', reason)
    t.deepEqual(wrong, [])
  })
}

test('a line of exactly 1 KiB is read, and it may come in pieces', async (t) => {
  const line = `up ${'#'.padEnd(1_020, 'x')}\n`
  const server = await serveTcp(t, (socket) => {
    socket.write(line.slice(0, 5), () => socket.end(line.slice(5)))
  })
  t.is(line.length, 1_024)
  const { member } = memberOf(t, idOf(server))
  t.deepEqual(reportOf(await member.ask()), { state: 'up' })
})

test('what follows the first line is not waited for, and the connection is closed', async (t) => {
  const closed = withResolvers<void>()
  const server = await serveTcp(t, (socket) => {
    socket.on('close', () => closed.resolve())
    socket.on('end', () => socket.end())
    socket.resume()
    socket.write('up\n50%\n')
  })
  const { member } = memberOf(t, idOf(server))
  t.deepEqual(reportOf(await member.ask()), { state: 'up' })
  await closed.promise
})

test('what is to be sent is sent first, the node’s own before the transport’s', async (t) => {
  const heard: string[] = []
  const server = await serveTcp(t, (socket) => {
    socket.once('data', (data) => {
      heard.push(data.toString())
      socket.end('up\n')
    })
  })
  const id = idOf(server)
  for (const options of [{ send: 'all\n' }, { send: 'all\n', node: () => ({ send: 'own\n' }) }]) {
    t.deepEqual(reportOf(await memberOf(t, id, options).member.ask()), { state: 'up' })
  }
  t.deepEqual(heard, ['all\n', 'own\n'])
})

test('cancelling gives up on an agent that never answers, and the next ask is a new connection', async (t) => {
  const sockets: Socket[] = []
  const connected = withResolvers<void>()
  const server = await serveTcp(t, (socket) => {
    sockets.push(socket)
    if (sockets.length === 1) connected.resolve()
    else socket.end('up\n')
  })
  const { member } = memberOf(t, idOf(server))
  const answer = member.ask()
  await connected.promise
  member.cancel('no answer within 2000 ms')
  t.deepEqual(await answer, { kind: 'exit', reason: 'no answer within 2000 ms' })
  t.deepEqual(reportOf(await member.ask()), { state: 'up' })
})

for (const [id, options, expected] of [
  ['10.0.0.1:8080', {}, ['10.0.0.1', 9]],
  ['server-1', {}, ['server-1', 9]],
  ['[fd00::1]:80', {}, ['fd00::1', 9]],
  ['fd00::1', {}, ['fd00::1', 9]],
  ['a/b', {}, /its id is not host:port: give its host/],
  ['a/b', { host: 'agents' }, ['agents', 9]],
  ['a/b', { node: () => ({ host: '[::1]', port: 5 }) }, ['::1', 5]],
  ['a', { node: () => ({ port: 0 }) }, /port/],
  ['a', { node: () => ({ url: 'x' }) }, /known option/],
] as const) {
  test(`node ${id} with ${Object.keys(options).join() || 'no options'} has its agent at ${expected}`, (t) => {
    const { settings } = agentCheckTransport({ port: 9, ...(options as Options) })
    if (expected instanceof RegExp) {
      t.throws(() => resolveAgentCheck(id, settings), { message: expected })
      return
    }
    const { host, port } = resolveAgentCheck(id, settings)
    t.deepEqual([host, port], expected as [string, number])
  })
}

for (const [what, given, option] of [
  ['no port', {}, 'agentCheckTransport.port'],
  ['port 0', { port: 0 }, 'agentCheckTransport.port'],
  ['another weight', { port: 1, weight: 'load' }, 'agentCheckTransport.weight'],
  ['an initial weight of 0', { port: 1, initialWeight: 0 }, 'agentCheckTransport.initialWeight'],
  ['an unknown option', { port: 1, sends: '' }, 'agentCheckTransport.sends'],
] as const) {
  test(`agentCheckTransport refuses ${what}`, (t) => {
    const error = t.throws(() => agentCheckTransport(given as never), { instanceOf: OptionError })
    t.is(error.option, option)
  })
}

test('by the polling thread: readings, what is told and what is wrong reach the balancer’s thread', async (t) => {
  const told: unknown[] = []
  const right = await serveTcp(t, (socket) => socket.end('drain up 30% maxconn:7\n'))
  const wrong = await serveTcp(t, (socket) => socket.end('70% sleepy\n'))
  const ports = new Map([right, wrong].map((server) => [idOf(server), Number(idOf(server).split(':')[1])]))
  const { table, poller } = httpPoller(t, {
    transport: (id) => agentCheckTransport({ port: ports.get(id) ?? 1, weight: 'idle' }),
    onTold: (news) => told.push(...news),
  })
  const [a, b] = [...ports.keys()].map((id) => table.claim(id))
  if (a === undefined || b === undefined) return t.fail()
  poller.setMembers([a, b])
  poller.start()
  while (poller.counters.cycles < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  t.is(readingOf(table, a.id)?.cpu, 70)
  t.is(readingOf(table, b.id)?.cpu, 30)
  // Told once, however often it was said.
  t.deepEqual(told, [{ slot: a.slot, generation: a.generation, state: 'drain', maxInFlight: 7 }])
  t.true(poller.counters.pushed.bad >= 3)
  t.is(poller.counters.warned, 1)
  poller.forget([a])
  while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  t.deepEqual(told[1], told[0])
})
