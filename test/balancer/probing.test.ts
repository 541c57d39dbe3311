import test from 'ava'
import {
  configure,
  createBalancer,
  createTable,
  leastCpu,
  OptionError,
  prequal,
  type Report,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const nodes = ['a', 'b', 'c']

function setUp(answer: (node: string, signal: AbortSignal) => Promise<Report>, options = prequal()) {
  const clock = new VirtualClock(1_000)
  const table = createTable({ clock })
  const asked: string[] = []
  const balancer = createBalancer({
    nodes,
    algorithm: options,
    table,
    seed: 5,
    name: 'probing',
    poll: {
      interval: 1e6,
      startupJitter: 1e6,
      timeout: 300,
      transport: {
        poll: (node, signal) => {
          asked.push(node)
          return answer(node, signal)
        },
      },
    },
  })
  return { balancer, clock, table, asked }
}

// Nodes that never answer, and what told them that nobody waits any more.
function setUpSilent() {
  const signals: AbortSignal[] = []
  const made = setUp((_, signal) => {
    signals.push(signal)
    return new Promise(() => {})
  })
  return { ...made, signals }
}

test('a pick has members asked after it, and the next one goes by what they say', async (t) => {
  const { balancer, clock, asked } = setUp(async (node) => ({ inFlight: 1, latency: node === 'b' ? 5 : 50 }))
  balancer.select()
  t.deepEqual(asked, [])
  await clock.advance(1)
  t.deepEqual(asked.sort(), nodes)
  t.is(balancer.select(), 'b')
  const { probes, picks } = balancer.stats()
  t.deepEqual(probes, { sent: 3, answered: 3, incomplete: 0, failed: 0, skipped: 0 })
  t.deepEqual([picks.picks, picks.atRandom], [2, 1])
  await balancer.close()
})

test('picks do not wait for nodes that never answer; these fail by the time-out', async (t) => {
  const { balancer, clock, signals } = setUpSilent()
  balancer.select()
  await clock.advance(1)
  balancer.select()
  await clock.advance(298)
  t.is(balancer.stats().probes?.failed, 0)
  await clock.advance(2)
  t.deepEqual(balancer.stats().probes, { sent: 3, answered: 0, incomplete: 0, failed: 3, skipped: 3 })
  t.true(signals.length === 3 && signals.every(({ aborted }) => aborted))
  balancer.select()
  await clock.advance(1)
  t.is(balancer.stats().probes?.sent, 6)
  await balancer.close()
})

test('a node that can not be probed is counted and not warned of', async (t) => {
  const warnings: Error[] = []
  const listen = (warning: Error) => {
    if (warning.message.includes('probing')) warnings.push(warning)
  }
  process.on('warning', listen)
  const { balancer, clock } = setUp(async (node) => {
    if (node === 'a') throw new Error('refused')
    return { inFlight: node === 'b' ? -1 : 2 }
  })
  balancer.select()
  await clock.advance(1)
  process.off('warning', listen)
  t.deepEqual(balancer.stats().probes, { sent: 3, answered: 1, incomplete: 0, failed: 2, skipped: 0 })
  t.deepEqual(warnings, [])
  await balancer.close()
})

test('members that drain or left are not asked', async (t) => {
  const { balancer, clock, asked } = setUp(async () => ({ inFlight: 0 }))
  void balancer.drain('a')
  balancer.remove('b')
  balancer.select()
  await clock.advance(1)
  t.deepEqual(asked, ['c'])
  await balancer.close()
})

test('the answer of a node that left and came back is not its entry', async (t) => {
  const answers: ((report: Report) => void)[] = []
  const { balancer, clock } = setUp(() => new Promise((resolve) => answers.push(resolve)))
  balancer.select()
  await clock.advance(1)
  for (const node of nodes) balancer.remove(node)
  for (const node of nodes) balancer.add(node)
  for (const resolve of answers) resolve({ inFlight: 0, latency: 1 })
  await clock.advance(1)
  balancer.select()
  t.is(balancer.stats().picks.atRandom, 2)
  await balancer.close()
})

test('what probes say is in the table for its other balancers within 50 ms', async (t) => {
  const { balancer, clock, table } = setUp(async (node) => ({ inFlight: 0, cpu: node === 'c' ? 1 : 80 }))
  const other = createBalancer({ nodes, algorithm: leastCpu(), poll: false, table, seed: 1 })
  other.select()
  balancer.select()
  await clock.advance(51)
  t.deepEqual(
    Array.from({ length: 20 }, () => other.select()),
    new Array(20).fill('c'),
  )
  await balancer.close()
})

test('nothing is asked with poll: false, with probes: 0 or by another algorithm', async (t) => {
  const clock = new VirtualClock()
  const silent = createBalancer({ nodes, algorithm: prequal(), poll: false, clock })
  silent.select()
  await clock.advance(10)
  t.is(silent.stats().probes, undefined)
  for (const algorithm of [prequal({ probes: 0 }), leastCpu({ ttl: Number.POSITIVE_INFINITY })]) {
    const { balancer, clock, asked } = setUp(async () => ({}), algorithm as never)
    balancer.select()
    await clock.advance(10)
    t.deepEqual(asked, [])
    t.is(balancer.stats().probes, undefined)
    await balancer.close()
  }
})

for (const [what, options] of [
  ['no poll options', {}],
  ['poll options without a transport', { poll: { interval: 1_000 } }],
  ['self alone', { self: 'a' }],
  ['self and poll options without a transport', { self: 'a', poll: { interval: 1_000 } }],
] as const) {
  test(`prequal with ${what} is refused, with what to add`, (t) => {
    const error = t.throws(() => createBalancer({ nodes, algorithm: prequal(), ...options }), {
      instanceOf: OptionError,
    })
    t.is(error?.option, 'poll.transport')
    t.regex(error?.message ?? '', /httpTransport\(.*poll\.port.*poll: false$/)
  })
}

test('prequal without probes needs no transport', async (t) => {
  const balancer = createBalancer({ nodes, algorithm: prequal({ probes: 0 }) })
  t.true(nodes.includes(balancer.select()))
  await balancer.close()
})

test('select(nodes) can not be configured with an algorithm that probes', async (t) => {
  await t.throwsAsync(() => configure({ algorithm: prequal() }), {
    instanceOf: OptionError,
    message: /another than prequal/,
  })
})

test('a closed balancer lets go of probes under way', async (t) => {
  const { balancer, clock, signals } = setUpSilent()
  balancer.select()
  await clock.advance(1)
  await balancer.close()
  t.true(signals.every(({ aborted }) => aborted))
  t.is(clock.pending, 0)
})
