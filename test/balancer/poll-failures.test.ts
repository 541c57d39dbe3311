import test from 'ava'
import { createBalancer, functionTransport } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

test('a node that can not be polled shows in the snapshot, until it answers', async (t) => {
  const clock = new VirtualClock()
  let isWell = false
  const transport = functionTransport(async (node) => {
    if (node === 'b' && !isWell) throw new Error('out of order')
    return { cpu: 10 }
  })
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    clock,
    poll: { interval: 1_000, startupJitter: 0, transport },
    name: 'poll-failures',
  })
  t.teardown(() => balancer.close())
  const polls = () => balancer.snapshot().map(({ poll }) => poll)
  t.deepEqual(polls(), [undefined, undefined])
  await clock.advance(2_500)
  const { cycles = 0 } = balancer.stats().poll ?? {}
  t.true(cycles >= 2)
  const [a, b] = polls()
  t.is(a, undefined)
  t.is(b?.count, cycles)
  t.regex(b?.reason ?? '', /out of order/)
  t.is(balancer.stats().poll?.failing, 1)
  isWell = true
  await clock.advance(1_500)
  t.deepEqual(polls(), [undefined, undefined])
  t.is(balancer.stats().poll?.failing, 0)
})
