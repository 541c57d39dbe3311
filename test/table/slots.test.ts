import test from 'ava'
import fc from 'fast-check'
import { createBalancer, createTable, random, TableError } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import * as layout from '../../dist/table/layout.js'
import { createMemory, TableMemory } from '../../dist/table/memory.js'
import { type MutableReading, readReading, writeReading } from '../../dist/table/reading.js'
import { Table } from '../../dist/table/table.js'

const quiet = { poll: false, algorithm: random() } as const

function read(table: Table, slot: number): MutableReading {
  const reading = { time: 0, tag: 0, value: 0 }
  readReading(table.memory, slot, reading)
  return reading
}

test('a reading comes back as it was written, for any time, tag and value', (t) => {
  const table = new Table(new VirtualClock())
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: layout.TIME_MAX }),
      fc.integer({ min: 0, max: layout.CPU_MAX }),
      (time, value) => {
        const entry = table.claim('a')
        t.is(table.write(entry, time, { cpu: value / 1000 }), 'stored')
        t.deepEqual(read(table, entry.slot), { time, tag: entry.generation & 511, value })
        table.unclaim(entry)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('of several samples the one taken last stays, whatever order they come in', (t) => {
  const table = new Table(new VirtualClock())
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1 }), (times) => {
      const entry = table.claim('a')
      for (const time of times) table.write(entry, time, { cpu: time / 1000 })
      t.is(read(table, entry.slot).value, Math.max(...times))
      table.unclaim(entry)
    }),
  )
})

test('a late report for a node that left changes nothing, also where another has its slot', (t) => {
  const table = new Table(new VirtualClock(), 1)
  const old = table.claim('old')
  table.unclaim(old)
  t.is(table.write(old, table.now(), { cpu: 0.099 }), 'left')
  const next = table.claim('next')
  t.is(next.slot, old.slot)
  t.is(table.write(old, table.now(), { cpu: 0.099 }), 'left')
  t.is(read(table, next.slot).value, -1)
  t.is(table.write(next, table.now(), { cpu: 0.007 }), 'stored')
  t.is(table.write(old, table.now() + 1, { cpu: 0.099 }), 'left')
  t.is(read(table, next.slot).value, 7)
})

test('it grows as nodes come, keeps every reading, and stops at the most that it may hold', (t) => {
  const table = createTable({ clock: new VirtualClock(), maxNodes: 3_000 })
  const balancer = createBalancer({ ...quiet, table })
  for (let i = 0; i < 3_000; i++) {
    balancer.add(`n${i}`)
    balancer.report(`n${i}`, { cpu: i / 100 })
  }
  t.true(balancer.snapshot().every((node, i) => node.cpu === i / 100))
  const error = t.throws(() => balancer.add('one more'), { instanceOf: TableError })
  t.regex(error?.message ?? '', /3000/)
  t.throws(() => balancer.setNodes([...balancer.nodes, 'one', 'two']), { instanceOf: TableError })
  t.is(balancer.nodes.length, 3_000)
  t.is(table.size, 3_000)
  balancer.remove('n5')
  t.true(balancer.add('now there is room'))
})

test('65,536 nodes fit a table by default, and 10,000 take at most 2 MiB', (t) => {
  const table = new Table(new VirtualClock())
  for (let i = 0; i < 10_000; i++) table.claim(`n${i}`)
  t.true(table.memory.buffer.byteLength <= 2 * 2 ** 20)
  for (let i = 10_000; i < 65_536; i++) table.claim(`n${i}`)
  t.is(table.size, 65_536)
})

test('churn takes no more slots than nodes were there at once', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const balancer = createBalancer({ nodes: ['fixed'], ...quiet, table })
  for (let i = 0; i < 20_000; i++) {
    balancer.setNodes(['fixed', `n${i}`, `m${i}`])
    balancer.select()
  }
  t.is(table.size, 3)
  t.is(table.memory.capacity, 64)
})

test('closing balancers gives all slots back', async (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const balancers = Array.from({ length: 20 }, (_, i) =>
    createBalancer({ nodes: ['shared', `own${i}`], ...quiet, table }),
  )
  t.is(table.size, 21)
  for (const balancer of balancers) await balancer.close()
  t.is(table.size, 0)
})

test('memory that is not a table of this version is refused', (t) => {
  t.throws(() => new TableMemory(new SharedArrayBuffer(16)), { instanceOf: TableError })
  t.throws(() => new TableMemory(new SharedArrayBuffer(4_096)), { instanceOf: TableError, message: /magic/ })
  for (const word of [layout.VERSION_WORD, layout.HEADER_BYTES_WORD, layout.SLOT_BYTES_WORD]) {
    const { buffer } = createMemory(0)
    const header = new Int32Array(buffer, 0, 32)
    header[word] = (header[word] as number) + 1
    t.throws(() => new TableMemory(buffer), { instanceOf: TableError, message: /version/ })
  }
  const { buffer } = createMemory(0)
  new Int32Array(buffer, 0, 32)[layout.CAPACITY_WORD] = 1_000_000
  t.throws(() => new TableMemory(buffer), { instanceOf: TableError, message: /larger/ })
})

test('a slot that the table does not have reads as missing and takes no reading', (t) => {
  const { memory } = new Table(new VirtualClock())
  for (const slot of [64, 100_000, layout.NO_SLOT]) {
    const reading = { time: 1, tag: 1, value: 1 }
    readReading(memory, slot, reading)
    t.is(reading.value, -1)
    t.is(writeReading(memory, slot, 0, 5, 5), 'left')
  }
})
