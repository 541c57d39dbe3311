import test from 'ava'
import { powerOfTwo } from '../../dist/algorithms/power-of-two/options.js'
import { type Algorithm, definitionOf } from '../../dist/algorithms/registry.js'
import { weightedRoundRobin } from '../../dist/algorithms/weighted-round-robin/options.js'
import { loadBinding } from '../../dist/engine/binding.js'
import { type NativeBinding, nativeEngine } from '../../dist/engine/native.js'
import { EngineError } from '../../dist/errors.js'
import { NO_SLOT, TIME_BIAS, VERSION } from '../../dist/table/layout.js'
import { createMemory } from '../../dist/table/memory.js'
import { publish, writeReading } from '../../dist/table/reading.js'

const loaded = loadBinding()
const native = loaded.kind === 'loaded' ? test : test.skip

function binding(): NativeBinding {
  if (loaded.kind !== 'loaded') throw loaded.error
  return loaded.binding
}

const algorithm = {
  kind: 'leastCpu',
  threshold: 5_000,
  ttl: 10_000,
  missing: 50_000,
  smoothing: 0,
} as const

// As the addon takes it.
const { kind, ...options } = algorithm
const optionsOf = (other: Algorithm) => definitionOf(other).native?.(other, createMemory(0), 1) ?? {}

function members(slots: number[]) {
  return {
    slots: Uint32Array.from(slots),
    generations: new Uint32Array(slots.length),
    states: new Uint8Array(slots.length).fill(1),
    weights: new Float64Array(slots.length).fill(1),
  }
}

function view(count: number) {
  return { values: new Float64Array(count), facts: new Float64Array(4) }
}

native('memory that is no table is refused', (t) => {
  const { Core } = binding()
  const refused = (bytes: Uint8Array, message: RegExp) =>
    t.throws(() => new Core(bytes, kind, options, 1, 2), { message })
  refused(new Uint8Array(new SharedArrayBuffer(0)), /aligned|at least 128 bytes/)
  refused(new Uint8Array(new SharedArrayBuffer(64)), /at least 128 bytes/)
  refused(new Uint8Array(new SharedArrayBuffer(4096)), /magic is 0/)
  refused(new Uint8Array(4096), /SharedArrayBuffer/)
  refused(createMemory(0).bytes().subarray(1), /aligned to 8 bytes/)
  refused(createMemory(0).bytes().subarray(64), /magic/)
  const wrong = createMemory(0)
  wrong.header[1] = 99
  refused(wrong.bytes(), new RegExp(`version is 99, expected ${VERSION}`))
})

native('what a thread has in flight is counted in nothing but a table and a ledger of shared memory', (t) => {
  const { OwnFlights } = binding()
  const table = createMemory(0).bytes()
  const ledger = new Uint8Array(new SharedArrayBuffer(64))
  t.throws(() => new OwnFlights(new Uint8Array(new SharedArrayBuffer(4096)), ledger), { message: /magic/ })
  t.throws(() => new OwnFlights(table, new Uint8Array(64)), { message: /SharedArrayBuffer/ })
  t.throws(() => new OwnFlights(table, ledger.subarray(4)), { message: /aligned to 8 bytes/ })
  const flights = new OwnFlights(table, ledger)
  t.throws(() => flights.rebind(table, new Uint8Array(64)))
  for (const wrong of [undefined, 1, new Uint16Array(4)])
    t.throws(() => flights.rebind(table, wrong as never))
})

native('arguments of the wrong type are errors, never a crash', (t) => {
  const { Core } = binding()
  const bytes = createMemory(0).bytes()
  const core = new Core(bytes, kind, options, 1, 2)
  const wrong: unknown[] = [
    undefined,
    null,
    1,
    'x',
    {},
    [],
    new Uint16Array(4),
    new DataView(new ArrayBuffer(8)),
  ]
  // What TypeScript would not let through.
  const call = (name: string, ...args: unknown[]) =>
    (core as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args)
  for (const value of wrong) {
    t.throws(() => call('fill', value), undefined, 'fill')
    t.throws(() => call('rebind', value))
    t.throws(() => call('pickExcluding', value))
    t.throws(() => call('refresh', 1, value, new Float64Array(4)))
    t.throws(() => call('refresh', 1, new Float64Array(4), value))
    t.throws(() => call('setMembers', value, new Uint32Array(0), new Uint8Array(0), new Float64Array(0)))
    t.throws(() => Reflect.construct(Core, [value, kind, options, 1, 2]))
    t.throws(() => Reflect.construct(Core, [bytes, value, options, 1, 2]))
    t.throws(() => Reflect.construct(Core, [bytes, kind, value, 1, 2]))
  }
  t.throws(() => core.fill.call({} as never, new Uint32Array(1)))
  t.throws(() => call('rewind', 'x'))
})

native('arrays of the wrong length are errors', (t) => {
  const core = new (binding().Core)(createMemory(0).bytes(), kind, options, 1, 2)
  const set = (slots: number, generations: number, states: number, weights: number) =>
    core.setMembers(
      new Uint32Array(slots),
      new Uint32Array(generations),
      new Uint8Array(states),
      new Float64Array(weights),
    )
  t.throws(() => set(2, 1, 2, 2))
  t.throws(() => set(2, 2, 3, 2))
  t.throws(() => set(2, 2, 2, 1))
  set(2, 2, 2, 2)
  t.throws(() => core.refresh(1, new Float64Array(1), new Float64Array(4)))
  t.throws(() => core.refresh(1, new Float64Array(2), new Float64Array(3)))
  t.notThrows(() => core.refresh(1, new Float64Array(2), new Float64Array(4)))
})

native('algorithms out of range are errors', (t) => {
  const bytes = createMemory(0).bytes()
  const make = (of: string, given: object) =>
    new (binding().Core)(bytes, of, given as Record<string, number>, 1, 2)
  const right = options as object
  t.notThrows(() => make(kind, { threshold: 5_000, ttl: 10_000, missing: -1, smoothing: 0 }))
  t.throws(() => make('leastcpu', right))
  const two = optionsOf(powerOfTwo({ metric: 'cpu', otherwise: 'worker' }))
  t.notThrows(() => make('powerOfTwo', two))
  for (const change of [
    { threshold: -1 },
    { threshold: 0.5 },
    { threshold: Number.NaN },
    { threshold: 100_001 },
    { ttl: -1 },
    { ttl: Number.NaN },
    { missing: -1.5 },
    { missing: -3 },
    { missing: Number.NaN },
    { missing: 'mean' },
    { missing: undefined },
    { smoothing: -1 },
    { smoothing: undefined },
  ]) {
    t.throws(() => make(kind, { ...right, ...change }), undefined, JSON.stringify(change))
  }
  for (const change of [
    { choices: 1 },
    { choices: 65 },
    { choices: 2.5 },
    { choiceRate: -0.1 },
    { choiceRate: 1.1 },
    { choiceRate: Number.NaN },
    { worker: -2 },
    { worker: 0.5 },
    { worker: 2 ** 32 },
    { worker: undefined },
    { failsUnknown: 2 },
    { failsUnknown: undefined },
    { ttl: -1 },
    { place: -1 },
    { place: 12 },
    { place: 0.5 },
    { place: undefined },
  ]) {
    t.throws(() => make('powerOfTwo', { ...two, ...change }), undefined, JSON.stringify(change))
  }
})

native('weighted round robins out of range are errors', (t) => {
  const bytes = createMemory(0).bytes()
  const make = (given: object) =>
    new (binding().Core)(bytes, 'weightedRoundRobin', given as Record<string, number>, 1, 2)
  const right = optionsOf(weightedRoundRobin({ metricNames: ['cpu', 'queue'] }))
  t.notThrows(() => make(right))
  t.notThrows(() => make(optionsOf(weightedRoundRobin({ weights: { a: 0 } }))))
  for (const change of [
    { blackoutPeriod: -1 },
    { blackoutPeriod: undefined },
    { weightExpirationPeriod: Number.NaN },
    { weightUpdatePeriod: 0 },
    { weightUpdatePeriod: undefined },
    { errorUtilizationPenalty: -1 },
    { errorUtilizationPenalty: Number.NaN },
    { clampMax: undefined },
    { clampMax: 0.5 },
    { clampMax: Number.NaN },
    { clampMin: 1.5 },
    { roundsUp: 2 },
    { weighted: undefined },
    { utilizations: 2 ** 12 },
    { utilizations: -1 },
  ]) {
    t.throws(() => make({ ...right, ...change }), undefined, JSON.stringify(change))
  }
})

native('the engine tells of a refusal by its own error', (t) => {
  const spec = { ...algorithm, ttl: Number.NaN }
  const error = t.throws(() => nativeEngine(binding()).createCore(createMemory(0), spec, [1, 2]), {
    instanceOf: EngineError,
  })
  t.true(error?.cause instanceof Error)
})

native('a core sees what was published, also in slots that came by growth', (t) => {
  const memory = createMemory(0)
  const core = nativeEngine(binding()).createCore(memory, algorithm, [1, 2])
  const last = memory.capacity
  core.setMembers(members([0, last, NO_SLOT]))
  const now = TIME_BIAS
  const { values, facts } = view(3)
  core.refresh(now, { values, facts })
  t.deepEqual([...values], [50_000, 50_000, 50_000])
  memory.grow()
  writeReading(memory, last, 0, now, 20_000)
  publish(memory)
  core.refresh(now, { values, facts })
  t.deepEqual([...values], [50_000, 20_000, 50_000])
  t.deepEqual([...facts], [1, now + 10_001, 1, 1])
  const into = new Uint32Array(8)
  t.is(core.fill(into), 8)
  t.deepEqual([...into], [1, 1, 1, 1, 1, 1, 1, 1])
})

native('what is picked may be written to shared memory, and to a part of an array', (t) => {
  const memory = createMemory(0)
  const core = nativeEngine(binding()).createCore(memory, { kind: 'random' }, [1, 2])
  core.setMembers(members([0, 1, 2]))
  core.refresh(0, view(3))
  const into = new Uint32Array(new SharedArrayBuffer(40)).fill(9)
  t.is(core.fill(into.subarray(2, 8)), 6)
  t.deepEqual([...into.subarray(0, 2), ...into.subarray(8)], [9, 9, 9, 9])
  t.true(into.subarray(2, 8).every((index) => index < 3))
  t.is(core.fill(new Uint32Array(0)), 0)
  t.is(core.pickExcluding(Uint32Array.of(0, 1)), 2)
  t.is(core.pickExcluding(Uint32Array.of(0, 1, 2)), -1)
})
