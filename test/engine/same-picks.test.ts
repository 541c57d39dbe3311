import test from 'ava'
import fc from 'fast-check'
import { leastCpu } from '../../dist/algorithms/least-cpu/options.js'
import { processBinding } from '../../dist/engine/binding.js'
import { type Engine, FACT_COUNT, type View } from '../../dist/engine/engine.js'
import { nativeEngine } from '../../dist/engine/native.js'
import { portableEngine } from '../../dist/engine/portable/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { TIME_BIAS } from '../../dist/table/layout.js'
import type { TableMemory } from '../../dist/table/memory.js'
import { Table } from '../../dist/table/table.js'
import { play } from './play.js'
import { situation } from './situations.js'

const binding = processBinding()
const native = binding.kind === 'loaded' ? nativeEngine(binding.binding) : undefined
// Without cargo there is no native engine to compare with.
const compared = native === undefined ? test.skip : test

compared('both engines make the same picks, bit for bit, in 10,000 random situations', (t) => {
  t.timeout(180_000)
  fc.assert(
    fc.property(situation, (run) => {
      t.deepEqual(play(native as Engine, run), play(portableEngine, run))
    }),
    { numRuns: 10_000 },
  )
})

compared('both engines see a reading that another view of the memory wrote after the table grew', (t) => {
  const clock = new VirtualClock()
  const table = new Table(clock)
  const cores = [native as Engine, portableEngine].map((engine) =>
    engine.createCore(table.memory, leastCpu({ threshold: 0 }), [1, 2]),
  )
  const places = Array.from({ length: 1_000 }, (_, i) => table.claim(`node-${i}`))
  places.forEach((place, i) => {
    table.write(place, TIME_BIAS, { cpu: i === 777 ? 0.001 : 0.002 })
  })
  table.publish()
  for (const core of cores) {
    const view: View = { values: new Float64Array(1_000), facts: new Float64Array(FACT_COUNT) }
    core.setMembers({
      slots: Uint32Array.from(places, (place) => place.slot),
      generations: Uint32Array.from(places, (place) => place.generation),
      states: new Uint8Array(1_000).fill(1),
      weights: new Float64Array(1_000).fill(1),
    })
    core.refresh(table.now(), view)
    const into = new Uint32Array(4)
    core.fill(into)
    t.deepEqual([...into], [777, 777, 777, 777], core.name)
  }
})

test('the portable engine works over memory that is not shared', (t) => {
  const shared = globalThis.SharedArrayBuffer
  // @ts-expect-error: a browser without cross-origin isolation has none
  globalThis.SharedArrayBuffer = undefined
  let memory: TableMemory
  try {
    const table = new Table(new VirtualClock())
    memory = table.memory
    for (let i = 0; i < 200; i++)
      table.write(table.claim(`node-${i}`), table.now(), { cpu: i === 150 ? 0.01 : 90 })
  } finally {
    globalThis.SharedArrayBuffer = shared
  }
  t.true(memory.buffer instanceof ArrayBuffer)
  const core = portableEngine.createCore(memory, leastCpu(), [3, 4])
  const slots = Uint32Array.from({ length: 200 }, (_, i) => i)
  core.setMembers({
    slots,
    generations: new Uint32Array(200),
    states: new Uint8Array(200).fill(1),
    weights: new Float64Array(200).fill(1),
  })
  core.refresh(TIME_BIAS, { values: new Float64Array(200), facts: new Float64Array(FACT_COUNT) })
  const into = new Uint32Array(8)
  t.is(core.fill(into), 8)
  t.true(into.every((index) => index === 150))
})
