import test from 'ava'
import { isAlgorithm } from '../../dist/algorithms/registry.js'
import { OptionError, type WeightedRoundRobinOptions, weightedRoundRobin } from '../../dist/index.js'

const ms = 'a number of milliseconds from 0 to 2147483647'
const clamp = '"core", "java" or an object of max and min'
const names = 'an array of metric names: "cpu", "application", "memory" or at most 4 of your own'
const name = 'the name of a utilization: "cpu", "application", "memory" or your own'

const wrong: { given: unknown; option: string; expected: string | RegExp }[] = [
  { given: 5, option: 'weightedRoundRobin', expected: 'an object of options' },
  { given: { blackout: 5 }, option: 'blackout', expected: /nearest is "blackoutPeriod"/ },
  { given: { blackoutPeriod: -1 }, option: 'blackoutPeriod', expected: ms },
  { given: { blackoutPeriod: Number.POSITIVE_INFINITY }, option: 'blackoutPeriod', expected: ms },
  { given: { weightExpirationPeriod: '1s' }, option: 'weightExpirationPeriod', expected: ms },
  { given: { weightExpirationPeriod: Number.NaN }, option: 'weightExpirationPeriod', expected: ms },
  { given: { weightUpdatePeriod: -5 }, option: 'weightUpdatePeriod', expected: ms },
  { given: { weightUpdatePeriod: null }, option: 'weightUpdatePeriod', expected: ms },
  {
    given: { errorUtilizationPenalty: -0.1 },
    option: 'errorUtilizationPenalty',
    expected: /of at least 0|from 0/,
  },
  { given: { errorUtilizationPenalty: Number.NaN }, option: 'errorUtilizationPenalty', expected: /a number/ },
  { given: { clamp: 'go' }, option: 'clamp', expected: clamp },
  { given: { clamp: { max: 0.5, min: 0.1 } }, option: 'clamp.max', expected: /a multiple of the mean/ },
  { given: { clamp: { max: 2, min: 1.1 } }, option: 'clamp.min', expected: 'a part of the mean from 0 to 1' },
  { given: { clamp: { max: 2, min: 0, most: 5 } }, option: 'clamp.most', expected: /known option/ },
  { given: { metricNames: 'cpu' }, option: 'metricNames', expected: names },
  { given: { metricNames: ['cpu', 'qps'] }, option: 'metricNames.1', expected: name },
  { given: { metricNames: [''] }, option: 'metricNames.0', expected: name },
  { given: { metricNames: [7] }, option: 'metricNames.0', expected: name },
  { given: { metricNames: ['a', 'b', 'c', 'd', 'e'] }, option: 'metricNames', expected: names },
  { given: { weights: ['a'] }, option: 'weights', expected: /an object of weights/ },
  { given: { weights: { a: -1 } }, option: 'weights.a', expected: /a number from 0/ },
  { given: { weights: { a: 1e13 } }, option: 'weights.a', expected: /a number from 0/ },
]

for (const { given, option, expected } of wrong) {
  test(`${JSON.stringify(given)} is refused, because of ${option}`, (t) => {
    const error = t.throws(() => weightedRoundRobin(given as WeightedRoundRobinOptions), {
      instanceOf: OptionError,
    })
    const full = option === 'weightedRoundRobin' ? option : `weightedRoundRobin.${option}`
    t.is(error?.option, full)
    if (typeof expected === 'string') t.is(error?.expected, expected)
    else t.regex(error?.expected ?? '', expected)
  })
}

test('the defaults are those of gRFC A58', (t) => {
  t.deepEqual(weightedRoundRobin(), {
    kind: 'weightedRoundRobin',
    blackoutPeriod: 10_000,
    weightExpirationPeriod: 180_000,
    weightUpdatePeriod: 1_000,
    errorUtilizationPenalty: 1,
    clamp: { max: 10, min: 0.01, roundUp: false },
    metricNames: [],
  })
})

test('an update period below 100 ms counts as that', (t) => {
  for (const [given, period] of [
    [0, 100],
    [99.5, 100],
    [100.5, 101],
  ] as const) {
    t.is(weightedRoundRobin({ weightUpdatePeriod: given }).weightUpdatePeriod, period)
  }
})

test('what was given can be changed afterwards, and an algorithm can not', (t) => {
  const given = { metricNames: ['a'], weights: { a: 1 }, clamp: { max: 2, min: 0.5 } }
  const algorithm = weightedRoundRobin(given)
  given.metricNames.push('b')
  given.weights.a = 7
  given.clamp.max = 9
  t.deepEqual(algorithm.metricNames, ['a'])
  t.is(algorithm.weights?.a, 1)
  t.is(algorithm.clamp.max, 2)
  t.true([algorithm, algorithm.metricNames, algorithm.weights, algorithm.clamp].every(Object.isFrozen))
})

test('an algorithm stays one when it is posted to another thread', (t) => {
  for (const options of [{}, { clamp: 'java' as const, metricNames: ['a', 'cpu'] }, { weights: { a: 0 } }]) {
    const posted: unknown = structuredClone(weightedRoundRobin(options))
    t.true(isAlgorithm(posted), JSON.stringify(options))
  }
})

test('what weightedRoundRobin() can not have made is no algorithm', (t) => {
  const right = structuredClone(weightedRoundRobin())
  for (const other of [
    { blackoutPeriod: -1 },
    { blackoutPeriod: 0.5 },
    { weightExpirationPeriod: Number.POSITIVE_INFINITY },
    { weightUpdatePeriod: 99 },
    { errorUtilizationPenalty: -1 },
    { errorUtilizationPenalty: Number.NaN },
    { clamp: 'core' },
    { clamp: { max: 0, min: 0, roundUp: false } },
    { clamp: { max: 2, min: 2, roundUp: false } },
    { clamp: { max: 2, min: 0 } },
    { clamp: null },
    { metricNames: undefined },
    { metricNames: ['eps'] },
    { metricNames: ['a', 'b', 'c', 'd', 'e'] },
    { weights: { a: -1 } },
    { weights: [1] },
  ]) {
    t.false(isAlgorithm({ ...right, ...other }), JSON.stringify(other))
  }
})
