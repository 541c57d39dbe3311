import test from 'ava'
import type { HealthOptions } from '../../dist/index.js'
import { ejected, setUp } from './ejecting.js'

const byRate: HealthOptions = { consecutiveFailures: 0, failureRate: {} }

/** Of each node 100 requests a second for so long, the first nodes fail so many of ten. */
async function play(
  { clock, end }: ReturnType<typeof setUp>,
  nodes: readonly string[],
  failing: readonly number[],
  { times = 10, each = 10 } = {},
): Promise<void> {
  for (let round = 0; round < times; round++) {
    for (const [i, node] of nodes.entries()) {
      for (let k = 0; k < each; k++) end(node, (k * 7) % 10 >= (failing[i] ?? 0))
    }
    await clock.advance(1_000)
  }
}

test('a failure rate is a reason where it is asked for: 85 % of 50 requests in 10 s, among five nodes', async (t) => {
  const nodes = ['a', 'b', 'c', 'd', 'e']
  const right: [HealthOptions | false, readonly string[], number, number, string][] = [
    [byRate, nodes, 9, 10, 'a'],
    [byRate, nodes, 8, 10, ''],
    [byRate, nodes.slice(1), 9, 10, ''],
    [byRate, nodes, 9, 4, ''],
    [{ ...byRate, failureRate: { threshold: 0.8 } }, nodes, 8, 10, 'a'],
    [{ ...byRate, failureRate: { minimum: 40 } }, nodes, 9, 4, 'a'],
    [{ ...byRate, failureRate: { members: 4 } }, nodes.slice(0, 4), 9, 10, 'a'],
    [{ consecutiveFailures: 0 }, nodes, 10, 10, ''],
    [false, nodes, 10, 10, ''],
  ]
  for (const [health, some, rate, each, out] of right) {
    const setting = setUp({ nodes: some, health })
    await play(setting, some, [rate, 5], { each })
    t.is(ejected(setting.balancer), out, JSON.stringify([health, some.length, rate, each]))
    if (out !== '') t.is(setting.balancer.snapshot()[0]?.ejected?.reason, 'failureRate')
  }
})

test('of those that fail too often the worst are ejected, as many as may be', async (t) => {
  const nodes = ['a', 'b', 'c', 'd', 'e']
  const setting = setUp({ nodes, health: { ...byRate, failureRate: { threshold: 0.5 } } })
  await play(setting, nodes, [2, 9, 7, 10, 1])
  t.is(ejected(setting.balancer), 'bd')
  t.is(setting.balancer.stats().health.spared, 1)
})

test('a failure rate is of one interval alone, and takes a timer only while one goes on', async (t) => {
  const nodes = ['a', 'b', 'c', 'd', 'e']
  const setting = setUp({ nodes, health: byRate })
  await play(setting, nodes, [0])
  t.is(setting.clock.pending, 0)
  await play(setting, nodes, [8])
  t.is(setting.clock.pending, 0)
  await play(setting, nodes, [9])
  t.is(ejected(setting.balancer), 'a')
})
