import test from 'ava'
import * as idlest from '../../dist/index.js'

const { cpuSampler, eventLoopSampler, memorySampler, pressureSampler, processSampler, throttledSampler } =
  idlest

const wrong = (value: unknown) => value as never

for (const [name, make] of [
  ['cpuSampler', cpuSampler],
  ['eventLoopSampler', eventLoopSampler],
  ['memorySampler', memorySampler],
  ['processSampler', processSampler],
  ['throttledSampler', throttledSampler],
  ['pressureSampler', (given: never) => pressureSampler('cpu', given)],
] as const) {
  test(`${name} refuses what are no options of its own, by their names`, (t) => {
    for (const given of [null, 5, 'x', { foo: 1 }, { clock: 5, files: 5, workers: 5 }]) {
      t.throws(() => make(wrong(given)), { instanceOf: idlest.OptionError, message: new RegExp(name) })
    }
  })
}

test('pressureSampler takes the kinds of pressure that Linux has, and no other', (t) => {
  for (const kind of ['x', '../../etc', undefined, null]) {
    t.throws(() => pressureSampler(wrong(kind)), { message: /one of "cpu", "memory", "io"/ })
  }
  t.notThrows(() => pressureSampler('io'))
})
