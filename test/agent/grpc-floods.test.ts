import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { ClientLimits } from '../../dist/agent/client-limits.js'
import { type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { callOrca } from '../support/grpc.js'
import { FLOODS, flood, frame } from '../support/hostile-grpc.js'
import { pem, until } from './support.js'

const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1'),
  frame(4, 0, 0, Buffer.alloc(0)),
])
const TOKEN = 'a-token-that-the-flood-does-not-have'

/** Of `:method: POST`, `:scheme: http`, `:path: /`, as HPACK has it: a call of nothing. */
const CALL = Buffer.from([0x83, 0x86, 0x84])

async function start(t: ExecutionContext, options: AgentOptions = {}) {
  const agent = await createAgent({
    http: false,
    grpc: { minInterval: 20 },
    sampler: () => 37.5,
    sampleInterval: 20,
    token: TOKEN,
    ...options,
  })
  t.teardown(() => agent.close())
  const counters = agent.counters.grpc
  if (counters === undefined || agent.grpc === undefined) throw new Error('there is no gRPC server')
  return { port: agent.grpc.port, counters }
}

const KINDS: Readonly<Record<string, Buffer>> = {
  ...FLOODS,
  'calls without a token': frame(1, 5, 1, CALL),
  'HEADERS that never end': frame(9, 0, 1, Buffer.alloc(16)),
}

for (const [name, one] of Object.entries(KINDS)) {
  test.serial(`a client without a token that sends ${name} is cut off; another still hears`, async (t) => {
    const { port, counters } = await start(t)
    const { reports } = callOrca(t, port, { authorization: `Bearer ${TOKEN}` })
    await until(() => reports.length > 0)
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.resume()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(PREFACE)
    flood(socket, one)
    await closed
    // Some of these are refused by the library before they are too many.
    t.true(counters.floods <= 1)
    if (name in FLOODS) t.is(counters.floods, 1)
    const { length } = reports
    await until(() => reports.length > length + 3)
    t.is(counters.ended, 0)
  })
}

test.serial('by TLS too', async (t) => {
  const { port, counters } = await start(t, {
    grpc: { minInterval: 20, tls: { key: pem('server-key'), cert: pem('server') } },
  })
  const socket = connectTls({ port, host: '127.0.0.1', ca: pem('ca'), ALPNProtocols: ['h2'] })
  socket.on('error', () => {})
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(PREFACE)
  flood(socket, FLOODS.PING as Buffer)
  await closed
  t.is(counters.floods, 1)
})

const one = FLOODS.PING as Buffer
const LIMITS = { maxConnections: 100, minInterval: 1_000 }

test('a client may send a few frames for each report for ever, however much others send', (t) => {
  const clock = new VirtualClock(0)
  const limits = new ClientLimits(LIMITS, clock)
  const good = limits.meter()
  t.is(good(PREFACE), undefined)
  for (let second = 0; second < 200; second++) {
    for (let client = 0; client < 50; client++) {
      const flooding = limits.meter()
      flooding(PREFACE)
      while (flooding(one) === undefined);
    }
    for (let i = 0; i < 4; i++) t.is(good(one), undefined)
    clock.jump(1_000)
  }
})

test('all clients together send no more than some hundred frames a second beyond their own', (t) => {
  const clock = new VirtualClock(0)
  const limits = new ClientLimits(LIMITS, clock)
  const taken = () => {
    let frames = 0
    const flooding = limits.meter()
    flooding(PREFACE)
    while (flooding(one) === undefined) frames++
    return frames
  }
  const before = Array.from({ length: 20 }, taken).reduce((sum, frames) => sum + frames, 0)
  t.true(before <= 20 * 32 + 1_000, `${before}`)
  clock.jump(1_000)
  const after = Array.from({ length: 20 }, taken).reduce((sum, frames) => sum + frames, 0)
  t.true(after <= 20 * 32 + 500, `${after}`)
})

test('as many clients as there may be can come at once, and then a hundred a second', (t) => {
  const clock = new VirtualClock(0)
  const limits = new ClientLimits(LIMITS, clock)
  const come = () => Array.from({ length: 500 }, () => limits.mayConnect()).filter(Boolean).length
  t.is(come(), 100)
  clock.jump(500)
  t.is(come(), 50)
})
