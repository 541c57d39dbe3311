import test from 'ava'
import {
  type Algorithm,
  createBalancer,
  functionTransport,
  leastConnections,
  leastCpu,
  random,
  roundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { countPicks } from '../support/shares.js'

type HealthOptions = NonNullable<NonNullable<Parameters<typeof createBalancer>[0]>['health']>

const SILENT = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

// Nodes a, b, …; those in `down` do not answer polls, those in `wrong` answer nonsense.
function setUp(
  count: number,
  options: { algorithm?: Algorithm; health?: HealthOptions; engine?: 'native' | 'portable' } = {},
) {
  const clock = new VirtualClock()
  const nodes = Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i))
  const down = new Set<string>()
  const wrong = new Set<string>()
  const transport = functionTransport((node) => {
    if (down.has(node)) return Promise.reject(SILENT)
    return Promise.resolve(wrong.has(node) ? ({ cpu: 'high' } as never) : { cpu: 20 })
  })
  const poll = { interval: 1_000, timeout: 500, startupJitter: 0, transport }
  const balancer = createBalancer({ nodes, clock, poll, seed: 7, ...options })
  const shares = () => {
    const picked = countPicks(6_000, () => balancer.select())
    return Object.fromEntries(nodes.map((node) => [node, ((picked.get(node) ?? 0) * count) / 6_000]))
  }
  return { balancer, clock, down, wrong, shares }
}

for (const engine of engines) {
  for (const [name, algorithm] of [
    ['adaptive', undefined],
    ['random', random()],
    ['roundRobin', roundRobin()],
    ['leastConnections', leastConnections()],
  ] as const) {
    test(`${engine}: with ${name} a node that answers no poll gets at most a tenth of its share, until it answers one`, async (t) => {
      for (const count of [2, 3, 8]) {
        const { balancer, clock, down, shares } = setUp(count, { ...(algorithm && { algorithm }), engine })
        t.teardown(() => balancer.close())
        await clock.advance(2_500)
        down.add('a')
        await clock.advance(5_000)
        const { a = 1 } = shares()
        t.true(a <= 0.1, `${count}: ${a}`)
        t.true(balancer.snapshot()[0]?.unreachable)
        t.regex(balancer.explain('a').words, /last \d polls failed: .*; it is unreachable/)
        down.clear()
        await clock.advance(2_000)
        t.false(balancer.snapshot()[0]?.unreachable)
        t.true((shares().a ?? 0) > 0.8)
      }
    })
  }
}

test('two polls that are not answered are not enough, and wrong answers never are', async (t) => {
  const { balancer, clock, down, wrong } = setUp(4)
  t.teardown(() => balancer.close())
  await clock.advance(1_500)
  down.add('a')
  wrong.add('b')
  await clock.advance(2_000)
  t.false(balancer.snapshot().some(({ unreachable }) => unreachable))
  await clock.advance(5_000)
  t.deepEqual(
    balancer.snapshot().map(({ unreachable }) => unreachable),
    [true, false, false, false],
  )
})

test('a node on which leases succeed is reachable, whatever its polls say', async (t) => {
  const { balancer, clock, down } = setUp(3)
  t.teardown(() => balancer.close())
  down.add('a')
  for (let second = 0; second < 10; second++) {
    await clock.advance(1_000)
    balancer.lease('a').release()
  }
  t.false(balancer.snapshot()[0]?.unreachable)
})

test('where fewer than half of the nodes can be reached, none is taken for unreachable', async (t) => {
  const { balancer, clock, down } = setUp(5)
  t.teardown(() => balancer.close())
  for (const node of ['a', 'b', 'c']) down.add(node)
  await clock.advance(10_000)
  t.false(balancer.snapshot().some(({ unreachable }) => unreachable))
  down.delete('c')
  await clock.advance(3_000)
  t.is(balancer.snapshot().filter(({ unreachable }) => unreachable).length, 2)
})

test('leastCpu() keeps its published rule unless it is asked otherwise', async (t) => {
  for (const [health, expected] of [
    [{}, false],
    [{ polls: 2 }, true],
  ] as const) {
    const { balancer, clock, down } = setUp(3, { algorithm: leastCpu(), health })
    t.teardown(() => balancer.close())
    down.add('a')
    await clock.advance(10_000)
    t.is(balancer.snapshot()[0]?.unreachable, expected)
  }
})
