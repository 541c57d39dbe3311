import test from 'ava'
import { Picks } from '../../dist/balancer/picks.js'
import { portableEngine } from '../../dist/engine/portable/index.js'
import { attachBalancer, createBalancer, prequal } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { Table } from '../../dist/table/table.js'

const ids = ['a', 'b', 'c']

// As with the process's clock, which is not asked at each pick.
function setUp(maxAge: number) {
  const clock = new VirtualClock(1_000)
  const table = new Table(clock)
  const places = ids.map((id) => table.claim(id))
  let told = false
  const picks = new Picks({
    core: portableEngine.createCore(table.memory, prequal({ maxAge, quantile: 1 }), [1, 2]),
    memory: table.memory,
    clock,
    exact: false,
    source: {
      membersChanged: () => !told,
      memberArrays: () => {
        told = true
        picks.counts = new Float64Array(ids.length)
        return {
          slots: Uint32Array.from(places, ({ slot }) => slot),
          generations: Uint32Array.from(places, ({ generation }) => generation),
          states: new Uint8Array(ids.length).fill(1),
          weights: new Float64Array(ids.length).fill(1),
        }
      },
    },
  })
  return { clock, table, picks }
}

test('an entry that came into an empty pool is dropped by a timer', (t) => {
  const { clock, table, picks } = setUp(500)
  picks.next()
  t.is(clock.pending, 0)
  picks.probed(0, 0, 10, table.now())
  picks.probed(1, 0, 20, table.now())
  t.is(clock.pending, 1)
  clock.jump(500)
  t.is(picks.next(), 0)
  t.is(picks.atRandom, 1)
  clock.jump(1)
  picks.next()
  t.is(picks.atRandom, 2)
  t.is(clock.pending, 0)
})

test('there is one timer, for the oldest entry, whatever comes later', (t) => {
  const { clock, table, picks } = setUp(500)
  picks.next()
  for (let i = 0; i < 30; i++) {
    picks.probed(i % 3, 0, 10 + (i % 3), table.now())
    clock.jump(20)
    t.is(clock.pending <= 1, true)
    picks.next()
  }
  // Two before there were two entries; none since.
  t.is(picks.atRandom, 2)
  picks.close()
  t.is(clock.pending, 0)
})

test('an attached balancer asks nobody, and goes by what the table hears', async (t) => {
  const clock = new VirtualClock(1_000)
  const asked: string[] = []
  const balancer = createBalancer({
    nodes: ids,
    algorithm: prequal({ quantile: 1 }),
    clock,
    seed: 1,
    poll: {
      interval: 1e6,
      startupJitter: 1e6,
      transport: {
        poll: async (node) => {
          asked.push(node)
          return { inFlight: 1, latency: node === 'b' ? 5 : 50 }
        },
      },
    },
  })
  const attached = attachBalancer(balancer.handle(), { clock, seed: 2 })
  attached.select()
  await clock.advance(100)
  t.deepEqual(asked, [])
  balancer.select()
  await clock.advance(51)
  t.is(asked.length, 3)
  t.is(attached.select(), 'b')
  attached.close()
  await balancer.close()
})
