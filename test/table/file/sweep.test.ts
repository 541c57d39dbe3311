import fc from 'fast-check'
import { createTable } from '../../../dist/index.js'
import { Directory } from '../../../dist/table/file/directory.js'
import type { FileTable } from '../../../dist/table/file/file-table.js'
import { ROW_LOCKS } from '../../../dist/table/file/layout.js'
import { Rows } from '../../../dist/table/file/rows.js'
import { Sweep } from '../../../dist/table/file/sweep.js'
import { TableFile } from '../../../dist/table/file/table-file.js'
import { enterFlight, inFlight } from '../../../dist/table/in-flight.js'
import { filePath, test } from './processes.js'

const NODES = 300
const always = () => true
const never = () => false

/** A thread that has a file open, as one of another process would. */
class Thread {
  readonly file: TableFile
  readonly directory: Directory
  readonly rows: Rows
  readonly sweep: Sweep

  constructor(path: string) {
    this.file = new TableFile(path, undefined, NODES)
    this.directory = new Directory(this.file, () => {})
    this.rows = new Rows(this.file)
    this.sweep = new Sweep(this.file, this.directory, this.rows)
    this.rows.take(process.pid)
  }

  alone<R>(work: () => R): R {
    return this.directory.alone(1_000, work) as R
  }

  seat(id: string): { slot: number; generation: number } {
    return this.alone(() => {
      const seat = this.directory.seat(id)
      this.rows.setMember(seat.slot, seat.generation, true)
      return seat
    })
  }

  die(): void {
    this.file.release(ROW_LOCKS + this.rows.own)
  }
}

test('what a dead thread had is taken back in steps of 64 slots, each a change by itself', (t) => {
  const path = filePath()
  const [alive, dead] = [new Thread(path), new Thread(path)]
  const shared = Array.from({ length: 150 }, (_, i) => alive.seat(`shared-${i}`))
  for (let i = 0; i < 150; i++) dead.seat(`shared-${i}`)
  for (let i = 0; i < 150; i++) dead.seat(`only-${i}`)
  for (const { slot, generation } of shared) {
    t.true(enterFlight(alive.file.memory, slot, generation))
    t.true(enterFlight(dead.file.memory, slot, generation))
  }
  // Killed just as it counted: the table has it, its ledger not.
  const [first] = shared as [{ slot: number; generation: number }]
  const { ledger } = dead.file.memory
  dead.file.memory.ledger = undefined
  enterFlight(dead.file.memory, first.slot, first.generation)
  dead.file.memory.ledger = ledger
  t.false(alive.sweep.isDue(0), 'where all live there is nothing to do')
  dead.die()
  t.true(alive.alone(() => alive.sweep.bury(never)))
  const counts = () => shared.map(({ slot, generation }) => inFlight(alive.file.memory, slot, generation))
  t.deepEqual(counts(), [2, ...new Array(149).fill(1)])
  let now = 0
  let steps = 0
  while (alive.sweep.isDue(now)) {
    alive.alone(() => alive.sweep.step(now, always))
    steps++
    if (!alive.sweep.isDue(now)) now += 1_000
  }
  t.is(steps, 3 * Math.ceil(300 / 64))
  t.deepEqual(counts(), new Array(150).fill(1))
  t.is([...alive.directory.seats()].length, 150)
  t.is(alive.rows.owned().length, 1)
})

test('a thread whose predecessors all died takes one of their rows', (t) => {
  const path = filePath()
  const threads = Array.from({ length: 256 }, () => new Thread(path))
  t.throws(() => createTable({ file: path }), { message: /256 threads/ })
  for (const thread of threads) thread.die()
  t.is(createTable({ file: path }).size, 0)
})

test('a thread sees what others changed, however many changes it is behind', (t) => {
  const act = fc.record({ joins: fc.boolean(), id: fc.nat(40), looks: fc.boolean() })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 80 }), fc.constantFrom(1, 7), (acts, times) => {
      const path = filePath()
      const [writer, reader] = [new Thread(path), new Thread(path)]
      for (let round = 0; round < times; round++) {
        for (const { joins, id, looks } of acts) {
          const seat = writer.directory.find(`n${id}`)
          if (joins) writer.seat(`n${id}`)
          else if (seat !== undefined) writer.alone(() => writer.directory.vacate(seat.slot))
          if (looks && round === 0) reader.directory.look()
        }
      }
      reader.directory.look()
      const seen = ({ directory }: Thread) =>
        [...directory.seats()].map(({ id, slot, generation }) => `${id} ${slot} ${generation}`).sort()
      t.deepEqual(seen(reader), seen(writer))
    }),
    { numRuns: 30 },
  )
})

test('what a node told is told of no other that gets its slot, also after 512 of them', (t) => {
  const path = filePath()
  const [one, other] = [createTable({ file: path, maxNodes: 1 }), createTable({ file: path })]
  const heard: unknown[] = []
  other.listen((told) => heard.push(...told))
  let entry = one.claim('n')
  one.tell([{ slot: entry.slot, generation: entry.generation, state: 'drain' }])
  for (let i = 0; i < 512; i++) {
    one.unclaim(entry)
    entry = one.claim(`n${i}`)
  }
  other.claim(entry.id)
  ;(other as FileTable).look()
  t.deepEqual(heard, [])
})
