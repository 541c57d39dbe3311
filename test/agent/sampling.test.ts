import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'ava'
import type { Sampled, Sampler } from '../../dist/agent/samplers/sampler.js'
import { createSampling } from '../../dist/agent/sampling.js'
import { SamplerError } from '../../dist/errors.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { kept } from '../support/kept.js'

const ZERO = { values: 0, none: 0, threw: 0, rejected: 0, hung: 0, invalid: 0, late: 0 }

function setUp(sampler: Sampler) {
  const clock = new VirtualClock(1_000)
  const warnings: string[] = []
  const sampling = createSampling({
    sampler,
    timeout: 2_000,
    clock,
    source: 'b1',
    warn: (message) => warnings.push(message),
  })
  return { clock, warnings, sampling }
}

function deferred() {
  let resolve: (value: Sampled) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<Sampled>((settle, refuse) => {
    resolve = settle
    reject = refuse
  })
  return { promise, resolve, reject }
}

test('a function, an async function and an object each give their value', async (t) => {
  const object = {
    percent: 30,
    sample() {
      return this.percent
    },
  }
  for (const [sampler, percent] of [
    [() => 10, 10],
    [async () => 20, 20],
    [object, 30],
    [() => 0, 0],
  ] as const) {
    const { sampling, clock } = setUp(sampler)
    t.deepEqual(await sampling.sample(), { kind: 'value', percent })
    t.deepEqual(sampling.counters, { ...ZERO, values: 1 })
    t.is(clock.pending, 0)
  }
})

test('a value above 100 counts as 100', async (t) => {
  const { sampling } = setUp(() => 1e308)
  t.deepEqual(await sampling.sample(), { kind: 'value', percent: 100 })
})

test('undefined, at once or later, is no value and no failure', async (t) => {
  for (const sampler of [() => undefined, async () => undefined]) {
    const { sampling, warnings } = setUp(sampler)
    t.deepEqual(await sampling.sample(), { kind: 'none' })
    t.deepEqual(sampling.counters, { ...ZERO, none: 1 })
    t.deepEqual(warnings, [])
  }
})

for (const bad of [Number.NaN, -1, Number.POSITIVE_INFINITY, '37', null, {}, true]) {
  test(`${typeof bad} ${bad} is invalid, at once or later`, async (t) => {
    for (const sampler of [() => bad, async () => bad] as unknown as Sampler[]) {
      const { sampling } = setUp(sampler)
      const outcome = await sampling.sample()
      if (outcome.kind !== 'failed') return t.fail(outcome.kind)
      t.is(outcome.reason, 'invalid')
      t.true(outcome.error instanceof SamplerError)
      t.is(outcome.error.value, kept(bad))
      t.deepEqual(sampling.counters, { ...ZERO, invalid: 1 })
    }
  })
}

test('a throw is counted as such, with its cause', async (t) => {
  const cause = new TypeError('no such file')
  const { sampling } = setUp(() => {
    throw cause
  })
  const outcome = await sampling.sample()
  if (outcome.kind !== 'failed') return t.fail(outcome.kind)
  t.is(outcome.reason, 'threw')
  t.is(outcome.error.cause, cause)
  t.is(outcome.error.message, 'the sampler of b1 threw: no such file')
  t.is(outcome.error.code, 'IDLEST_SAMPLER')
  t.deepEqual(sampling.counters, { ...ZERO, threw: 1 })
})

test('a rejection is counted as such, with its cause', async (t) => {
  const { sampling, clock } = setUp(() => Promise.reject('gone'))
  const outcome = await sampling.sample()
  if (outcome.kind !== 'failed') return t.fail(outcome.kind)
  t.is(outcome.reason, 'rejected')
  t.is(outcome.error.cause, 'gone')
  t.deepEqual(sampling.counters, { ...ZERO, rejected: 1 })
  t.is(clock.pending, 0)
})

test('a promise may take as long as the timeout, and no longer', async (t) => {
  const first = deferred()
  const { sampling, clock } = setUp(() => first.promise)
  const outcome = sampling.sample()
  await clock.advance(1_999)
  first.resolve(42)
  t.deepEqual(await outcome, { kind: 'value', percent: 42 })

  const second = setUp(() => new Promise(() => {}))
  const hung = second.sampling.sample()
  await second.clock.advance(2_000)
  const failed = await hung
  t.is(failed.kind === 'failed' && failed.reason, 'hung')
  t.deepEqual(second.sampling.counters, { ...ZERO, hung: 1 })
})

test('a sampler that hangs is not called again until its promise settles, and that result is dropped', async (t) => {
  let calls = 0
  let current = deferred()
  const { sampling, clock } = setUp(() => {
    calls++
    return current.promise
  })
  const first = sampling.sample()
  await clock.advance(2_000)
  await first
  for (let i = 0; i < 3; i++) {
    const again = await sampling.sample()
    t.is(again.kind === 'failed' && again.reason, 'hung')
  }
  t.is(calls, 1)
  t.deepEqual(sampling.counters, { ...ZERO, hung: 4 })

  current.resolve(99)
  await clock.advance(0)
  t.deepEqual(sampling.counters, { ...ZERO, hung: 4, late: 1 })
  current = deferred()
  current.resolve(7)
  t.deepEqual(await sampling.sample(), { kind: 'value', percent: 7 })
  t.is(calls, 2)
})

test('a rejection that comes too late is dropped, not unhandled', async (t) => {
  const one = deferred()
  const { sampling, clock } = setUp(() => one.promise)
  const first = sampling.sample()
  await clock.advance(2_000)
  await first
  one.reject(new Error('too late'))
  await clock.advance(0)
  t.deepEqual(sampling.counters, { ...ZERO, hung: 1, late: 1 })
})

test('samples that are asked for while one is taken share it', async (t) => {
  let calls = 0
  const one = deferred()
  const { sampling } = setUp(() => {
    calls++
    return one.promise
  })
  const both = Promise.all([sampling.sample(), sampling.sample()])
  one.resolve(5)
  const value = { kind: 'value', percent: 5 } as const
  t.deepEqual(await both, [value, value])
  t.is(calls, 1)
  t.is(sampling.counters.values, 1)
})

test('failures are warned of once a minute at most, with how many there were', async (t) => {
  const { sampling, clock, warnings } = setUp(() => Number.NaN)
  for (let second = 0; second <= 120; second++) {
    await sampling.sample()
    clock.jump(1_000)
  }
  const message = 'the sampler of b1 gave NaN: expected a finite number >= 0, in percent'
  const more = `${message} (60 failures since the last warning)`
  t.deepEqual(warnings, [message, more, more])
  t.is(sampling.counters.invalid, 121)
})

test.serial(
  'warnings are emitted by the process as IdlestWarning, where nothing else is given',
  async (t) => {
    const emitted = new Promise<Error>((resolve) => process.once('warning', resolve))
    const sampling = createSampling({
      sampler: () => -1,
      timeout: 1,
      clock: new VirtualClock(),
      source: 'agent',
    })
    await sampling.sample()
    const warning = await emitted
    t.is(warning.name, 'IdlestWarning')
    t.like(warning, { code: 'IDLEST_SAMPLER' })
    t.regex(warning.message, /the sampler of agent gave -1/)
  },
)

test.serial('each failure is published with its source', async (t) => {
  const events: unknown[] = []
  const listener = (event: unknown) => events.push(event)
  subscribe('idlest:sampler:error', listener)
  t.teardown(() => unsubscribe('idlest:sampler:error', listener))
  const { sampling } = setUp(() => -1)
  const outcomes = [await sampling.sample(), await sampling.sample()]
  t.deepEqual(
    events,
    outcomes.map((outcome) => ({ source: 'b1', error: outcome.kind === 'failed' && outcome.error })),
  )
})
