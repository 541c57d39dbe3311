import test from 'ava'
import { createBalancer, createTable, OptionError, powerOfTwo } from '../../dist/index.js'
import { engines } from '../support/engines.js'

for (const engine of engines) {
  const make = (algorithm: object, nodes: string[] = ['a']) =>
    createBalancer({
      algorithm: Object.freeze(algorithm) as never,
      engine,
      poll: false,
      table: createTable(),
      nodes,
    })

  test(`${engine}: an algorithm that leastCpu() did not make must be as one that it makes`, (t) => {
    const right = {
      kind: 'leastCpu',
      threshold: 5_000,
      ttl: 10_000,
      missing: 'mean',
      smoothing: 0,
    }
    t.is(make({ ...right }).select(), 'a')
    for (const wrong of [
      { kind: 'leastCpu' },
      { ...right, threshold: Number.NaN },
      { ...right, threshold: 0.5 },
      { ...right, threshold: -1 },
      { ...right, ttl: Number.NaN },
      { ...right, ttl: '5' },
      { ...right, missing: 100_001 },
      { ...right, missing: 'median' },
      { ...right, smoothing: -1 },
      { ...right, ownSends: false },
    ]) {
      t.throws(() => make(wrong), { instanceOf: OptionError, message: /leastCpu\(\)/ }, JSON.stringify(wrong))
    }
  })

  test(`${engine}: nor one that powerOfTwo() did not make`, (t) => {
    const right = powerOfTwo({ metric: 'cpu' })
    t.notThrows(() => make({ ...right }))
    for (const part of [
      { metric: undefined },
      { metric: '' },
      { metric: 5 },
      { metric: 'm'.repeat(1_025) },
      { metric: { length: 3 } },
      { choices: 1 },
      { choices: 65 },
      { choices: 2.5 },
      { choices: '2' },
      { choiceRate: -0.1 },
      { choiceRate: 2 },
      { choiceRate: Number.NaN },
      { otherwise: 'least' },
      { unknown: undefined },
      { ttl: -1 },
      { ttl: Number.NaN },
    ]) {
      t.throws(() => make({ ...right, ...part }), { instanceOf: OptionError }, JSON.stringify(part))
    }
    // What a caller puts beside them does not reach the engine.
    for (const beside of [{ place: 99 }, { thread: -5 }, { weights: { a: 1 } }, { fading: true }]) {
      t.throws(() => make({ ...right, ...beside }), { instanceOf: OptionError }, JSON.stringify(beside))
    }
  })
}

for (const now of [Number.NaN, Number.POSITIVE_INFINITY, undefined, '5', 10n]) {
  test(`a clock whose time is ${String(now)} (${typeof now}) is refused`, (t) => {
    const clock = { now: () => now as number, setTimeout: () => 0, clearTimeout() {} }
    const expected = { instanceOf: OptionError, message: /clock is an object: expected a clock/ }
    t.throws(() => createBalancer({ clock, poll: false }), expected)
    t.throws(() => createTable({ clock }), expected)
  })
}
