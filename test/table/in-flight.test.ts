import test from 'ava'
import fc from 'fast-check'
import { attachBalancer, createBalancer, createTable, leastConnections } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { enterFlight, inFlight, leaveFlight, takeBack } from '../../dist/table/in-flight.js'
import { COUNT_BITS, COUNT_MASK, IN_FLIGHT_WORD, slotWord } from '../../dist/table/layout.js'
import { createMemory, TableMemory } from '../../dist/table/memory.js'
import { keepLedger } from '../../dist/table/own-flights.js'
import { Registration } from '../../dist/table/registration.js'
import { readReport, writeReport } from '../../dist/table/report.js'
import { emptySlot } from '../../dist/table/slot.js'
import { Table } from '../../dist/table/table.js'

test('counts are the same whether or not another thread may count too', (t) => {
  const act = fc.record({ enters: fc.boolean(), slot: fc.nat(70), generation: fc.nat(2) })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const [alone, shared] = [createMemory(0), createMemory(0)]
      shared.share()
      const said = [alone, shared].map((memory) =>
        acts.map(({ enters, slot, generation }) => [
          (enters ? enterFlight : leaveFlight)(memory, slot, generation),
          inFlight(memory, slot, generation),
        ]),
      )
      t.deepEqual(said[0], said[1])
      t.deepEqual(alone.words, shared.words)
    }),
    { numRuns: 500 },
  )
})

test('a full count refuses, and an empty one gives nothing back', (t) => {
  for (const shared of [false, true]) {
    const memory = createMemory(0)
    if (shared) memory.share()
    t.is(leaveFlight(memory, 3, 0), -1)
    memory.words[slotWord(3) + IN_FLIGHT_WORD] = COUNT_MASK
    t.false(enterFlight(memory, 3, 0))
    t.is(inFlight(memory, 3, 0), COUNT_MASK)
    t.is(leaveFlight(memory, 3, 0), COUNT_MASK - 1)
  }
})

test('counts are changed atomically as soon as there is a handle, for all balancers of the table', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const options = { nodes: ['a', 'b', 'c'], algorithm: leastConnections(), table, poll: false } as const
  const balancer = createBalancer(options)
  const other = createBalancer(options)
  t.false(table.memory.countsAreShared)
  const before = other.acquire()
  const handle = balancer.handle()
  t.true(table.memory.countsAreShared)
  t.true(new TableMemory(handle.table as SharedArrayBuffer).countsAreShared)
  // What was counted before is given back in the other way.
  before.release()
  const attached = attachBalancer(handle, { clock: new VirtualClock() })
  const lease = attached.acquire()
  t.deepEqual(
    other.snapshot().map(({ inFlight }) => inFlight),
    ['a', 'b', 'c'].map((id) => (id === (lease.node as unknown) ? 1 : 0)),
  )
  lease.release()
})

test('what a thread counted is taken back, and nothing else', (t) => {
  const memory = createMemory(0)
  memory.share()
  memory.ledger = new Int32Array(2 * memory.capacity)
  const enter = (slot: number, generation = 0) => enterFlight(memory, slot, generation)
  const { ledger } = memory
  for (const slot of [0, 0, 1, 2]) t.true(enter(slot))
  leaveFlight(memory, 1, 0)
  memory.ledger = undefined
  t.true(enter(0))
  // The slot is another node's by now.
  emptySlot(memory, 2, 1)
  memory.words[slotWord(2) + IN_FLIGHT_WORD] = (1 << COUNT_BITS) | 5
  takeBack(memory, ledger)
  t.is(inFlight(memory, 0, 0), 1)
  t.is(inFlight(memory, 1, 0), 0)
  t.is(inFlight(memory, 2, 1), 5)
  t.true(ledger.every((word) => word === 0))
  takeBack(memory, ledger)
  t.is(inFlight(memory, 0, 0), 1)
})

test('a ledger has room for each slot, at whichever moment another thread grows the table', (t) => {
  const { get } = Object.getOwnPropertyDescriptor(TableMemory.prototype, 'capacity') ?? {}
  for (let moment = 1; moment <= 12; moment++) {
    const owner = createMemory(0, 10_000)
    const memory = new TableMemory(owner.share())
    let looks = 0
    // After each look at it the table may be larger.
    Object.defineProperty(memory, 'capacity', {
      get: () => {
        const capacity: unknown = get?.call(memory)
        if (++looks === moment) owner.grow()
        return capacity
      },
    })
    keepLedger(memory, undefined)
    for (let more = 0; more < 3; more++) {
      const last = owner.capacity - 1
      t.true(enterFlight(memory, last, 0))
      t.is(memory.ledger?.[2 * last], 1, `slot ${last}, moment ${moment}`)
      owner.grow()
    }
    if (memory.ledger !== undefined) takeBack(memory, memory.ledger)
    t.is(
      owner.words.reduce((sum, word, i) => (i < owner.header.length ? sum : sum + word), 0),
      0,
    )
  }
})

// A slot's tags: 9 bits of its generation in a reading, 12 in the count.
for (const reuses of [4_096, 8_192]) {
  test(`what is for a node that left counts for no other, also after its slot served ${reuses} others`, (t) => {
    const table = new Table(new VirtualClock())
    const { memory } = table
    const before = table.claim('before')
    const { slot, generation } = before
    memory.share()
    memory.ledger = new Int32Array(2 * memory.capacity)
    const { ledger } = memory
    t.true(enterFlight(memory, slot, generation))
    emptySlot(memory, slot, generation + reuses)
    const now = generation + reuses
    memory.ledger = undefined
    t.true(enterFlight(memory, slot, now))
    memory.ledger = ledger
    t.is(leaveFlight(memory, slot, generation), -1)
    t.false(enterFlight(memory, slot, generation))
    takeBack(memory, ledger)
    t.is(inFlight(memory, slot, now), 1)
    t.is(writeReport(memory, slot, generation, table.now(), { cpu: 5, latency: 3 }), 'left')
    t.deepEqual(readReport(memory, slot, now), {})
    t.deepEqual(Registration.claim(memory, slot, generation, 1, 0, 10), { kind: 'left' })
    // What this thread counts from now on is of the new node alone.
    t.true(enterFlight(memory, slot, now))
    t.is(leaveFlight(memory, slot, now), 1)
  })

  test(`a lease that is held while its node's slot serves ${reuses} others takes nothing from the last of them`, (t) => {
    const table = createTable({ maxNodes: 1 })
    const balancer = createBalancer({ nodes: ['held'], table, poll: false })
    const held = balancer.acquire()
    for (let i = 0; i < reuses; i++) {
      balancer.setNodes([])
      balancer.setNodes([`n${i}`])
    }
    const other = balancer.acquire()
    held.release()
    t.is(balancer.snapshot()[0]?.inFlight, 1)
    t.is(balancer.stats().leases.releasedLate, 1)
    other.release()
    t.is(balancer.snapshot()[0]?.inFlight, 0)
  })
}
