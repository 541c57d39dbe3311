import test from 'ava'
import fc from 'fast-check'
import { type FleetEstimate, tryFleet } from '../../dist/estimate/estimate.js'
import { estimateFleet, type FleetInputs, OptionError } from '../../dist/index.js'
import { kept } from '../support/kept.js'

const wrong: readonly (readonly [Record<string, unknown>, string, RegExp])[] = [
  [{ lostShare: 1 }, 'lostShare', /below 1 .*: a server that lost all of its CPU is down/],
  [{ lostShare: 12 }, 'lostShare', /below 1/],
  [{ lostShare: 50 }, 'lostShare', /50 % is 0.5/],
  [{ lostShare: -0.1 }, 'lostShare', /at least 0/],
  [{ lostShare: 1, servers: 1 }, 'lostShare', /below 1/],
  [{ targetLoad: 0 }, 'targetLoad', /above 0/],
  [{ targetLoad: 1 }, 'targetLoad', /below 1 .*: at 1 nothing would be left/],
  [{ targetLoad: 60 }, 'targetLoad', /60 % is 0.6/],
  [{ serverCapacity: 0 }, 'serverCapacity', /above 0/],
  [{ serverCapacity: -200 }, 'serverCapacity', /above 0/],
  [{ serverCapacity: Number.MIN_VALUE }, 'serverCapacity', /9007199254740991 servers/],
  [{ serverCapacity: Number.MAX_VALUE, servers: 2 }, 'serverCapacity', /more than a number can hold/],
  [{ reportInterval: 0 }, 'reportInterval', /seconds above 0/],
  [{ reportInterval: 2_000 }, 'reportInterval', /2,000 ms are 2/],
  [{ peakFactor: 0.5 }, 'peakFactor', /at least 1/],
  [{ peakFactor: Number.MAX_VALUE, dailyActiveUsers: 1e9 }, 'peakFactor', /more than a number can hold/],
  [{ trafficFactor: -1 }, 'trafficFactor', /at least 0/],
  [{ trafficFactor: Number.MAX_VALUE }, 'trafficFactor', /more than a number can hold/],
  [{ dailyActiveUsers: -1 }, 'dailyActiveUsers', /at least 0/],
  [{ dailyActiveUsers: Number.NaN }, 'dailyActiveUsers', /a number of users/],
  [{ dailyActiveUsers: Number.POSITIVE_INFINITY }, 'dailyActiveUsers', /a number of users/],
  [{ dailyActiveUsers: Number.MAX_VALUE }, 'dailyActiveUsers', /more than a number can hold/],
  [{ dailyActiveUsers: 1e300 }, 'serverCapacity', /9007199254740991 servers/],
  [{ dailyActiveUsers: '1000000' }, 'dailyActiveUsers', /a number of users/],
  [{ dailyActiveUsers: 10n }, 'dailyActiveUsers', /a number of users/],
  [{ servers: 0 }, 'servers', /whole number of at least 1/],
  [{ servers: 2.5 }, 'servers', /whole number of at least 1/],
  [{ servers: 2 ** 53 }, 'servers', /whole number/],
  [{ dailyUsers: 5 }, 'dailyUsers', /nearest is "dailyActiveUsers"/],
]

for (const [inputs, option, expected] of wrong) {
  const said = Object.entries(inputs).map(([name, value]) => `${name} ${String(value)}`)
  test(`${said.join(' with ')}: an error that names ${option}`, (t) => {
    const error = t.throws(() => estimateFleet(inputs as Partial<FleetInputs>), { instanceOf: OptionError })
    t.is(error?.option, option)
    t.regex(error?.expected ?? '', expected)
    const isUnknown = error?.expected.startsWith('a known option')
    t.is(error?.value, isUnknown ? undefined : kept(inputs[option] ?? 200))
    t.deepEqual(tryFleet(inputs as Partial<FleetInputs>), { faults: { [option]: error?.expected } })
  })
}

for (const value of [null, [], 5, 'inputs', new Map()]) {
  test(`${JSON.stringify(value)} as inputs: an error`, (t) => {
    t.throws(() => estimateFleet(value as never), {
      instanceOf: OptionError,
      message: /an object of options/,
    })
  })
}

test('all inputs that are wrong are told at once', (t) => {
  const result = tryFleet({ targetLoad: 0, lostShare: 1, peakFactor: Number.NEGATIVE_INFINITY })
  t.true('faults' in result)
  if ('faults' in result)
    t.deepEqual(Object.keys(result.faults).sort(), ['lostShare', 'peakFactor', 'targetLoad'])
})

test('an input of undefined is one that is not given', (t) => {
  const { load } = estimateFleet({ servers: undefined, targetLoad: undefined })
  t.is(load, estimateFleet().load)
})

for (const input of ['dailyActiveUsers', 'requestsPerUserPerDay', 'trafficFactor'] as const) {
  test(`${input} 0: loads of 0, and a server all the same`, (t) => {
    const { servers, load, equalShare, bySpareCapacity, perReport } = estimateFleet({ [input]: 0 })
    t.is(servers, input === 'trafficFactor' ? 10 : 1)
    t.deepEqual([load, equalShare, bySpareCapacity, perReport], [0, 0, 0, 0])
  })
}

test('-0 is 0, in numbers and in words', (t) => {
  const zero = { dailyActiveUsers: 0, lostShare: 0, trafficFactor: 0 }
  const minus = { dailyActiveUsers: -0, lostShare: -0, trafficFactor: -0 }
  t.deepEqual(estimateFleet(minus), estimateFleet(zero))
})

test('one server that loses half of its CPU: no policy helps', (t) => {
  const { planned, equalShare, bySpareCapacity, steps } = estimateFleet({ dailyActiveUsers: 100_000 })
  t.is(planned, 1)
  t.is(bySpareCapacity, equalShare)
  t.is(steps[4]?.notes[0], 'there is one server: no other takes over')
})

test('the error of the arithmetic alone adds no server', (t) => {
  // 57 requests a second by servers of 100 at 0.57: 0.57 * 100 is 56.99999999999999.
  const inputs = { dailyActiveUsers: 86_400, requestsPerUserPerDay: 57, peakFactor: 1, serverCapacity: 100 }
  t.is(estimateFleet({ ...inputs, targetLoad: 0.57 }).planned, 1)
  t.is(estimateFleet({ ...inputs, targetLoad: 0.57, requestsPerUserPerDay: 57.0001 }).planned, 2)
  t.deepEqual(estimateFleet({ ...inputs, targetLoad: 0.57 }).steps[3]?.notes, [])
})

const positive = (max: number) => fc.double({ min: 1e-3, max, noNaN: true })
const right = fc.record(
  {
    dailyActiveUsers: fc.double({ min: 0, max: 1e10, noNaN: true }),
    requestsPerUserPerDay: fc.double({ min: 0, max: 1e5, noNaN: true }),
    peakFactor: fc.double({ min: 1, max: 100, noNaN: true }),
    trafficFactor: fc.double({ min: 0, max: 100, noNaN: true }),
    serverCapacity: positive(1e6),
    targetLoad: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    lostShare: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    reportInterval: positive(600),
    servers: fc.integer({ min: 1, max: 1e6 }),
  },
  { requiredKeys: [] },
)

function numbersOf({ inputs: _, steps: __, ...figures }: FleetEstimate): number[] {
  return Object.values(figures)
}

test('by any right inputs all numbers are finite, and hang together', (t) => {
  fc.assert(
    fc.property(right, (inputs) => {
      const estimate = estimateFleet(inputs)
      const { peak, planned, load, equalShare, bySpareCapacity } = estimate
      const { serverCapacity, targetLoad } = estimate.inputs
      t.true(numbersOf(estimate).every((value) => Number.isFinite(value) && value >= 0))
      // Enough, and not one too many.
      const each = serverCapacity * targetLoad
      t.true(peak <= planned * each * (1 + 1e-9))
      t.true(planned === 1 || peak > (planned - 1) * each * (1 - 1e-9))
      // Who shares the loss has less of it.
      t.true(bySpareCapacity <= equalShare * (1 + 1e-9))
      t.true(load <= bySpareCapacity * (1 + 1e-9))
      for (const step of estimate.steps) t.notRegex(JSON.stringify(step), /NaN|Infinity|null|undefined/)
    }),
  )
})

test('whatever is passed, what comes back is finite numbers or an OptionError', (t) => {
  const value = fc.oneof(fc.double(), fc.anything())
  const names = Object.keys(estimateFleet().inputs)
  const inputs = fc.dictionary(fc.constantFrom(...names, 'servers', 'other'), value)
  fc.assert(
    fc.property(fc.oneof(inputs, fc.anything()), (given) => {
      try {
        t.true(numbersOf(estimateFleet(given as Partial<FleetInputs>)).every(Number.isFinite))
      } catch (error) {
        t.true(error instanceof OptionError, String(error))
      }
    }),
    { numRuns: 1_000 },
  )
})
