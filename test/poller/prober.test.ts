import test from 'ava'
import { Generator } from '../../dist/engine/portable/generator.js'
import type { Answer } from '../../dist/poller/answer.js'
import { Prober } from '../../dist/poller/prober.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { type Entry, Table } from '../../dist/table/table.js'

function setUp({ nodes = 5, probes = 3, most = 16, settlesAtOnce = false } = {}) {
  const table = new Table(new VirtualClock())
  let targets: readonly Entry[] = Array.from({ length: nodes }, (_, i) => table.claim(`node-${i}`))
  let picks = 0
  const turns: (() => void)[] = []
  const asked: { id: string; settle: (answer: Answer) => void }[] = []
  const known: (readonly Entry[])[] = []
  const reports: string[] = []
  const prober = new Prober({
    probes,
    most,
    picks: () => picks,
    targets: () => targets,
    generator: new Generator([1, 2]),
    later: (run) => turns.push(run),
    asker: {
      setMembers: (entries) => known.push(entries),
      ask: ({ id }, settle) => {
        asked.push({ id, settle })
        if (settlesAtOnce) settle({ kind: 'error', reason: 'no address' })
      },
      close: () => {},
    },
    onReport: ({ id }) => reports.push(id),
  })
  return {
    prober,
    asked,
    turns,
    known,
    reports,
    pick: (times = 1) => {
      for (let i = 0; i < times; i++) {
        picks++
        if (!prober.awake) prober.wake()
      }
    },
    turn: () => {
      for (const run of turns.splice(0)) run()
    },
    join: (next: readonly Entry[]) => {
      targets = next
    },
    targets: () => targets,
  }
}

const report = (inFlight?: number): Answer => ({
  kind: 'report',
  report: inFlight === undefined ? {} : { inFlight },
  at: 0,
})

test('picks of one turn are looked at once, after it, and ask distinct nodes', (t) => {
  const { asked, turns, pick, turn } = setUp({ nodes: 6 })
  pick(2)
  t.is(turns.length, 1)
  t.is(asked.length, 0)
  turn()
  t.is(new Set(asked.map(({ id }) => id)).size, 6)
})

test('a node is not asked again before its answer; what can not be sent is counted', (t) => {
  const { prober, asked, pick, turn } = setUp({ nodes: 4 })
  pick(2)
  turn()
  t.is(asked.length, 4)
  t.is(prober.counters.skipped, 2)
  asked[1]?.settle(report(1))
  pick()
  turn()
  t.is(asked.length, 5)
  t.is(asked[4]?.id, asked[1]?.id)
  t.deepEqual(prober.counters, { sent: 5, answered: 1, incomplete: 0, failed: 0, skipped: 4 })
})

test('who can not be asked, and says so at once, is asked once a turn', (t) => {
  const { prober, asked, pick, turn } = setUp({ nodes: 4, settlesAtOnce: true })
  for (const turns of [1, 2]) {
    pick(1_000)
    turn()
    t.is(asked.length, 4 * turns)
    t.deepEqual([prober.counters.failed, prober.counters.skipped], [4 * turns, 2_996 * turns])
  }
})

test('a node that tells unasked has answered, makes no entry and is no failure', (t) => {
  const { prober, asked, reports, pick, turn } = setUp({ nodes: 1 })
  pick()
  turn()
  asked[0]?.settle({ kind: 'heard' })
  t.like(prober.counters, { sent: 1, answered: 1, incomplete: 1, failed: 0 })
  t.deepEqual(reports, [])
})

test('no more are under way than allowed', (t) => {
  const { prober, asked, pick, turn } = setUp({ nodes: 100, most: 5 })
  pick(1_000)
  turn()
  t.is(asked.length, 5)
  t.is(prober.counters.skipped, 2_995)
})

test('fractions of probes add up, whatever the turns are', (t) => {
  const { asked, pick, turn } = setUp({ nodes: 100, probes: 0.25 })
  for (let i = 0; i < 10; i++) {
    pick()
    turn()
  }
  t.is(asked.length, 2)
  pick(2)
  turn()
  t.is(asked.length, 3)
})

test('failures and reports without requests in flight are counted', (t) => {
  const { prober, asked, reports, pick, turn } = setUp({ nodes: 3 })
  pick()
  turn()
  asked[0]?.settle({ kind: 'exit', reason: 'refused' })
  asked[1]?.settle({ kind: 'error', reason: 'status 500' })
  asked[2]?.settle(report())
  t.deepEqual(prober.counters, { sent: 3, answered: 1, incomplete: 1, failed: 2, skipped: 0 })
  t.deepEqual(reports, [asked[2]?.id as string])
})

test('nodes that left are not asked, and those that joined are', (t) => {
  const { asked, known, pick, turn, join, targets } = setUp({ nodes: 3 })
  pick()
  turn()
  const [first, second] = targets() as [Entry, Entry]
  join([first, second])
  for (const { settle } of asked.splice(0)) settle(report(1))
  pick()
  turn()
  t.deepEqual(asked.map(({ id }) => id).sort(), ['node-0', 'node-1'])
  t.deepEqual(
    known.map((entries) => entries.length),
    [3, 2],
  )
})

test('every node is asked as often as any other', (t) => {
  const { asked, pick, turn } = setUp({ nodes: 10, probes: 1 })
  const counts = new Map<string, number>()
  for (let i = 0; i < 2_000; i++) {
    pick()
    turn()
    for (const { id, settle } of asked.splice(0)) {
      counts.set(id, (counts.get(id) ?? 0) + 1)
      settle(report(1))
    }
  }
  // Six standard deviations of 13.4.
  for (const count of counts.values()) t.true(Math.abs(count - 200) < 80, `${count}`)
  t.is(counts.size, 10)
})

test('a closed prober asks nobody', (t) => {
  const { prober, asked, pick, turn } = setUp()
  pick()
  prober.close()
  turn()
  t.is(asked.length, 0)
})
