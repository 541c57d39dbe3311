import test from 'ava'
import { BadReportError } from '../../dist/errors.js'
import { checkReport } from '../../dist/reports/check.js'
import { kept } from '../support/kept.js'

const FULL = {
  cpu: 37.5,
  application: 12,
  memory: 80,
  qps: 1200.5,
  eps: 0,
  inFlight: 4,
  latency: 12,
  queueDelay: 0.25,
  age: 120,
  named: { rif: 4, drift: -2.5 },
  state: 'drain',
  weight: 73,
  maxInFlight: 30,
}

test('a report with every field comes back as it was', (t) => {
  t.deepEqual(checkReport(FULL), FULL)
})

test('an empty report is a report', (t) => {
  t.deepEqual(checkReport({}), {})
})

test('the checked report is a copy: later changes to the given one do not reach it', (t) => {
  const given = { cpu: 1, named: { rif: 4 } }
  const checked = checkReport(given)
  given.cpu = 2
  given.named.rif = 5
  t.deepEqual(checked, { cpu: 1, named: { rif: 4 } })
})

test('cpu above 100 passes unchanged', (t) => {
  t.is(checkReport({ cpu: 130 }).cpu, 130)
})

test('a field that is undefined counts as not given', (t) => {
  t.deepEqual(checkReport({ cpu: undefined, named: undefined, age: 5 }), { age: 5 })
})

test('minus zero comes back as zero', (t) => {
  t.true(Object.is(checkReport({ cpu: -0 }).cpu, 0))
})

for (const field of [
  'cpu',
  'application',
  'memory',
  'qps',
  'eps',
  'inFlight',
  'latency',
  'queueDelay',
  'age',
  'weight',
  'maxInFlight',
]) {
  for (const bad of [Number.NaN, -1, -1e-9, 1e308, Number.POSITIVE_INFINITY, '37', null, true, 3n, {}]) {
    test(`${field} as ${typeof bad} ${typeof bad === 'object' ? JSON.stringify(bad) : bad} is refused with its name and value`, (t) => {
      const error = t.throws(() => checkReport({ [field]: bad }), { instanceOf: BadReportError })
      t.is(error?.field, field)
      t.is(error?.code, 'IDLEST_BAD_REPORT')
      t.is(error?.value, kept(bad))
      t.regex(error?.message ?? '', /expected a finite number from 0 to 1000000000000$/)
    })
  }
}

for (const [wrong, right] of [
  ['cpus', 'cpu'],
  ['CPU', 'cpu'],
  ['inflight', 'inFlight'],
  ['in_flight', 'inFlight'],
  ['queue_delay', 'queueDelay'],
  ['mem', 'memory'],
  ['cpu_utilization', 'cpu'],
  ['queue', 'queueDelay'],
  ['names', 'named'],
  ['ageMs', 'age'],
] as const) {
  test(`the unknown field ${wrong} is refused, with ${right} as the nearest`, (t) => {
    const error = t.throws(() => checkReport({ [wrong]: 1 }), { instanceOf: BadReportError })
    t.is(error?.field, wrong)
    t.true(error?.message.endsWith(`the nearest is ${right}`), error?.message)
  })
}

for (const bad of [undefined, null, 37, '{}', [], () => ({}), new Map(), Promise.resolve({ cpu: 1 })]) {
  test(`${typeof bad} ${String(bad)} is no report`, (t) => {
    const error = t.throws(() => checkReport(bad), { instanceOf: BadReportError })
    t.is(error?.field, '')
  })
}

for (const bad of [Number.NaN, Number.NEGATIVE_INFINITY, '4', null]) {
  test(`a named metric that is ${typeof bad} ${bad} is refused by its name`, (t) => {
    const error = t.throws(() => checkReport({ named: { rif: bad } }), { instanceOf: BadReportError })
    t.is(error?.field, 'named.rif')
  })
}

for (const bad of [4, null, [1], 'rif']) {
  test(`named as ${JSON.stringify(bad)} is refused`, (t) => {
    const error = t.throws(() => checkReport({ named: bad }), { instanceOf: BadReportError })
    t.is(error?.field, 'named')
  })
}

test('a long or odd name comes short and on one line in the message, and whole in the field', (t) => {
  const name = `a\n${'b'.repeat(10_000)}`
  const error = t.throws(() => checkReport({ named: { [name]: -Infinity } }), { instanceOf: BadReportError })
  t.is(error?.field, `named.${name}`)
  t.true((error?.message.length ?? 1e6) < 200)
  t.false(error?.message.includes('\n'))
})

test('a metric without a name is refused, as no reader would take it', (t) => {
  const error = t.throws(() => checkReport({ named: { '': 1 } }), { instanceOf: BadReportError })
  t.is(error?.field, 'named')
})

test('a metric called __proto__ stays a metric and changes no prototype', (t) => {
  const { named = {} } = checkReport(JSON.parse('{"named":{"__proto__":7}}'))
  t.deepEqual(Object.entries(named), [['__proto__', 7]])
  t.is(Object.getPrototypeOf(named), Object.prototype)
})

test('a field called __proto__ is refused as unknown', (t) => {
  const error = t.throws(() => checkReport(JSON.parse('{"__proto__":{"cpu":7}}')), {
    instanceOf: BadReportError,
  })
  t.is(error?.field, '__proto__')
})

for (const bad of ['ready', 'UP', '', null, 1, true, {}]) {
  test(`state as ${JSON.stringify(bad)} is refused with its name and value`, (t) => {
    const error = t.throws(() => checkReport({ state: bad }), { instanceOf: BadReportError })
    t.is(error?.field, 'state')
    t.deepEqual(error?.value, kept(bad))
  })
}
