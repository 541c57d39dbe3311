import test from 'ava'
import { createBalancer, type Report, random } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

function setUp() {
  const clock = new VirtualClock()
  const says: Record<string, Report> = { a: { cpu: 1 }, b: { cpu: 1 } }
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    algorithm: random(),
    seed: 1,
    clock,
    poll: { startupJitter: 0, interval: 1_000, transport: { poll: async (node) => says[node] ?? {} } },
  })
  const picked = () => [...new Set(Array.from({ length: 50 }, () => balancer.select()))].sort()
  return { clock, balancer, says, picked }
}

for (const state of ['drain', 'maint', 'down'] as const) {
  test(`a node that says ${state} is picked no more until it says up`, async (t) => {
    const { clock, balancer, says, picked } = setUp()
    await clock.advance(0)
    t.deepEqual(picked(), ['a', 'b'])
    says.a = { cpu: 1, state }
    await clock.advance(1_000)
    t.deepEqual(picked(), ['b'])
    // It stays until the node tells something else.
    says.a = { cpu: 1 }
    await clock.advance(1_000)
    t.deepEqual(picked(), ['b'])
    says.a = { cpu: 1, state: 'up' }
    await clock.advance(1_000)
    t.deepEqual(picked(), ['a', 'b'])
    await balancer.close()
  })
}

test('a node that says up is not taken up again where the user drains it', async (t) => {
  const { clock, balancer, says, picked } = setUp()
  says.a = { cpu: 1, state: 'up' }
  await clock.advance(0)
  await balancer.drain('a')
  says.a = { cpu: 1, state: 'drain' }
  await clock.advance(1_000)
  says.a = { cpu: 1, state: 'up' }
  await clock.advance(1_000)
  t.deepEqual(picked(), ['b'])
  await balancer.close()
})

test('what a poll says again is heard again, where another report has said something else meanwhile', async (t) => {
  const { clock, balancer, says, picked } = setUp()
  says.a = { cpu: 1, state: 'drain' }
  await clock.advance(0)
  t.deepEqual(picked(), ['b'])
  // On its way since before the node drained.
  balancer.report('a', { state: 'up' })
  t.deepEqual(picked(), ['a', 'b'])
  await clock.advance(1_000)
  t.deepEqual(picked(), ['b'])
  await balancer.close()
})
