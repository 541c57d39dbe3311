import { inspect } from 'node:util'
import test from 'ava'
import * as v from 'valibot'
import { OptionError } from '../dist/errors.js'
import {
  checkOptions,
  findWrong,
  flag,
  method,
  milliseconds,
  number,
  oneOf,
  options,
  secret,
  text,
  whole,
} from '../dist/options.js'

const transport = options({ kind: oneOf(['http']), path: v.optional(text(), '/report') })
const schema = options({
  interval: v.optional(milliseconds(1), 5_000),
  share: v.optional(number(0)),
  workers: v.optional(whole(1, 64), 1),
  verbose: v.optional(flag()),
  transport: v.optional(v.union([v.literal(false, 'false or an object of options'), transport])),
  onCycle: v.optional(method<() => void>()),
})

const wrong = [
  { given: null, option: 'poll', expected: 'an object of options' },
  { given: 5, option: 'poll', expected: 'an object of options' },
  { given: { interval: Number.NaN }, option: 'poll.interval', expected: /milliseconds/ },
  {
    given: { interval: -1 },
    option: 'poll.interval',
    expected: 'a number of milliseconds from 1 to 2147483647',
  },
  { given: { interval: '5s' }, option: 'poll.interval', expected: /milliseconds/ },
  { given: { interval: null }, option: 'poll.interval', expected: /milliseconds/ },
  { given: { share: Number.POSITIVE_INFINITY }, option: 'poll.share', expected: 'a number of at least 0' },
  { given: { workers: 1.5 }, option: 'poll.workers', expected: 'a whole number from 1 to 64' },
  { given: { workers: 65 }, option: 'poll.workers', expected: 'a whole number from 1 to 64' },
  { given: { verbose: 1 }, option: 'poll.verbose', expected: 'true or false' },
  { given: { onCycle: 'x' }, option: 'poll.onCycle', expected: 'a function' },
  { given: { transport: { kind: 'smtp' } }, option: 'poll.transport.kind', expected: 'one of "http"' },
  { given: { transport: { kind: 'http', path: '' } }, option: 'poll.transport.path', expected: /not empty/ },
  { given: { transport: {} }, option: 'poll.transport.kind', expected: /value for "kind"/ },
] as const

for (const { given, option, expected } of wrong) {
  test(`${inspect(given)} is refused at ${option}`, (t) => {
    const error = t.throws(() => checkOptions('poll', given, schema), { instanceOf: OptionError })
    t.is(error.option, option)
    if (typeof expected === 'string') t.is(error.expected, expected)
    else t.regex(error.expected, expected)
  })
}

test('all that is wrong comes at once, by paths and with what would be right', (t) => {
  const given = { interval: Number.NEGATIVE_INFINITY, workers: 65, verbos: true }
  const result = findWrong('poll', given, schema)
  const wrong = result.ok ? [] : result.wrong
  t.deepEqual([...new Set(wrong.map(({ path }) => path.join('.')))].sort(), ['interval', 'verbos', 'workers'])
  t.deepEqual(wrong.find(({ isName }) => isName)?.path, ['verbos'])
  t.deepEqual(findWrong('poll', { workers: 2 }, schema), { ok: true, value: { interval: 5_000, workers: 2 } })
})

test('an unknown option is refused with the nearest known one, and without its value', (t) => {
  const error = t.throws(() => checkOptions('poll', { Intervall: 7 }, schema), { instanceOf: OptionError })
  t.is(error.option, 'poll.Intervall')
  t.is(error.value, undefined)
  t.is(error.message, 'option poll.Intervall is unknown: expected a known option; the nearest is "interval"')
  t.is(error.expected, 'a known option; the nearest is "interval"')
})

test('an unknown option inside a nested object is refused with its whole path', (t) => {
  const given = { transport: { kind: 'http', pth: '/x' } }
  const error = t.throws(() => checkOptions('poll', given, schema), { instanceOf: OptionError })
  t.is(error.option, 'poll.transport.pth')
  t.regex(error.expected, /"path"/)
})

test('a misspelt name is told before the missing one that it explains', (t) => {
  const error = t.throws(() => checkOptions('', { knd: 'http' }, transport), { instanceOf: OptionError })
  t.is(error.option, 'knd')
  t.regex(error.expected, /"kind"/)
})

test('right options come back with the defaults filled in', (t) => {
  t.deepEqual(checkOptions('poll', { workers: 2 }, schema), { interval: 5_000, workers: 2 })
  t.deepEqual(checkOptions('poll', { interval: undefined }, schema), { interval: 5_000, workers: 1 })
  t.deepEqual(checkOptions('poll', { transport: false }, schema).transport, false)
})

for (const [what, value] of [
  ['a map', new Map([['interval', 5]])],
  ['a set', new Set([1])],
  ['a promise', Promise.resolve({ interval: 5 })],
  ['a typed array', new Uint8Array(0)],
  ['an array', []],
] as const) {
  test(`${what} is no object of options, though it has none that is unknown`, (t) => {
    const error = t.throws(() => checkOptions('poll', value, schema), { instanceOf: OptionError })
    t.is(error?.expected, 'an object of options')
  })
}

test('something else in the place of all options is named as such', (t) => {
  t.is(
    t.throws(() => checkOptions('', 5, schema)).message,
    'the value given for the options is 5: expected an object of options',
  )
})

test('options may be an instance of a class, or have no prototype', (t) => {
  class Config {
    interval = 7
  }
  t.is(checkOptions('poll', new Config(), schema).interval, 7)
  t.is(checkOptions('poll', Object.assign(Object.create(null), { interval: 8 }), schema).interval, 8)
})

test('a secret is in no error: neither in its message nor in its value', (t) => {
  const isWord = (value: unknown): value is string => typeof value === 'string' && /^[a-z]+$/.test(value)
  const withSecret = options({ token: v.optional(secret(isWord, 'a word')) })
  t.deepEqual(checkOptions('x', { token: 'sesame' }, withSecret), { token: 'sesame' })
  t.deepEqual(checkOptions('x', {}, withSecret), {})
  const error = t.throws(() => checkOptions('x', { token: 's3same' }, withSecret), {
    instanceOf: OptionError,
  })
  t.is(error?.message, 'option x.token is "(hidden)": expected a word')
  t.notRegex(inspect(error), /s3same/)
})

test('options that throw when they are read are an OptionError, with what they threw as its cause', (t) => {
  const thrown = new Error('no')
  const getter = {
    get interval() {
      throw thrown
    },
  }
  const proxy = new Proxy(
    {},
    {
      has() {
        throw thrown
      },
      getPrototypeOf() {
        throw thrown
      },
    },
  )
  for (const wrong of [getter, proxy]) {
    const error = t.throws(() => checkOptions('poll', wrong, schema), { instanceOf: OptionError })
    t.is(error.option, 'poll')
    t.is(error.value, wrong === getter ? 'an object' : "an object that can't be read")
    t.is(error.cause, thrown)
  }
})

test('a proxy that is revoked is an OptionError, as options and as the value of one', (t) => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  for (const wrong of [proxy, { interval: proxy }]) {
    const error = t.throws(() => checkOptions('poll', wrong, schema), { instanceOf: OptionError })
    t.regex(String(error.value), /^an object/)
  }
})

test('an abbreviated or a longer name suggests the option that it means, not one with nearer letters', (t) => {
  const schema = options({
    port: v.optional(whole(0)),
    hostname: v.optional(text()),
    cpu: v.optional(whole(0)),
  })
  const suggested = (given: object) => t.throws(() => checkOptions('', given, schema)).message
  t.regex(suggested({ host: 'a' }), /nearest is "hostname"/)
  t.regex(suggested({ cpuUtilization: 1 }), /nearest is "cpu"/)
  t.regex(suggested({ prot: 1 }), /nearest is "port"/)
})
