import { readFileSync } from 'node:fs'
import test from 'ava'
import { estimateFleet, type FleetInputs } from '../../dist/index.js'

/** Each row has those of its kind. */
interface Row {
  readonly n: number
  readonly what: string
  readonly formula: string
  readonly value: number
  readonly equalShare: number
  readonly bySpareCapacity: number
  readonly text: string
}
const vector: { readonly inputs: FleetInputs; readonly steps: readonly Row[]; readonly scene: string } =
  JSON.parse(readFileSync(new URL('../vectors/sizing.json', import.meta.url), 'utf8'))

/** A value with as many decimals as the vector shows. */
function like(shown: number, value: number): number {
  return Number(value.toFixed((String(shown).split('.')[1] ?? '').length))
}

const estimate = estimateFleet(vector.inputs)

for (const row of vector.steps) {
  test(`vector step ${row.n}: ${row.what}`, (t) => {
    const step = estimate.steps[row.n - 1]
    t.is(step?.n, row.n)
    t.is(step?.what, row.what)
    if (step?.kind === 'value') {
      t.is(step.formula, row.formula)
      t.is(like(row.value, step.value), row.value)
    } else if (step?.kind === 'loss') {
      const { equalShare, bySpareCapacity } = step.formula
      t.is(`equal share: ${equalShare}; by spare capacity: ${bySpareCapacity}`, row.formula)
      t.is(like(row.equalShare, step.equalShare), row.equalShare)
      t.is(like(row.bySpareCapacity, step.bySpareCapacity), row.bySpareCapacity)
    } else {
      t.is(step?.text, row.text)
    }
  })
}

test('the vector is the one that was copied: 8 inputs, 7 steps', (t) => {
  t.is(Object.keys(vector.inputs).length, 8)
  t.is(vector.steps.length, 7)
})

test("the vector's scene: what four of the servers get", (t) => {
  t.regex(vector.scene, new RegExp(`^4 servers .* ${Math.round(4 * estimate.perServer)} req/s$`))
})

test("the inputs that are not given are the vector's", (t) => {
  t.deepEqual(estimateFleet(), estimate)
  t.deepEqual(estimate.inputs, vector.inputs)
})

test('nothing is rounded from step to step', (t) => {
  const average = (1_000_000 * 50) / 86_400
  t.is(estimate.average, average)
  t.is(estimate.peak, average * 2)
  t.is(estimate.load, (average * 2) / 2_000)
  t.is(estimate.equalShare, (average * 2) / 2_000 / 0.5)
  t.is(estimate.perReport, average * 4)
})

test('the number of servers is planned from the peak, whatever the traffic is now', (t) => {
  const { planned, servers, traffic, load } = estimateFleet({ trafficFactor: 1.5 })
  t.is(planned, 10)
  t.is(servers, 10)
  t.is(traffic, estimate.peak * 1.5)
  t.is(load, traffic / 2_000)
})

test('where other servers run than were planned, load and loss are theirs', (t) => {
  const { planned, servers, load, bySpareCapacity, steps } = estimateFleet({ servers: 8 })
  t.is(planned, 10)
  t.is(servers, 8)
  t.is(load, estimate.peak / 1_600)
  t.is(bySpareCapacity, (load * 8) / 7.5)
  t.deepEqual(steps[2]?.notes, ['8 run'])
  t.deepEqual(steps[3]?.notes, ['over the target of 60 %'])
})

test('the round-robin line over 100 % says what that is', (t) => {
  t.deepEqual(estimate.steps[4]?.notes, [
    'over 100 % by an equal share (round robin): it is sent more than it can do, and its queue grows by 15.7 requests every second',
  ])
  t.deepEqual(estimateFleet({ lostShare: 0.3 }).steps[4]?.notes, [])
  t.is(estimateFleet({ lostShare: 0.3 }).steps[4]?.what, 'one server losing 30 % of its CPU')
})

test('a fleet that can not carry the traffic says so at each step', (t) => {
  const { load, bySpareCapacity, steps } = estimateFleet({ trafficFactor: 2 })
  t.true(load > 1 && bySpareCapacity > 1)
  t.regex(steps[3]?.notes.join('\n') ?? '', /traffic is 2 times[\s\S]*over 100 %/)
  t.regex(steps[4]?.notes.join('\n') ?? '', /round robin[\s\S]*by spare capacity too/)
})

test('the numbers stand in the formulas, and give what is shown', (t) => {
  const numbers = estimate.steps.map((step) => (step.kind === 'advice' ? '' : step.numbers))
  t.deepEqual(numbers, [
    '1,000,000 * 50 / 86,400',
    '578.7 * 2',
    'ceil(1,157.4 / (200 * 0.6))',
    '1,157.4 / (10 * 200)',
    { equalShare: '0.5787 / (1 - 0.5)', bySpareCapacity: '0.5787 * 10 / (10 - 0.5)' },
    '1,157.4 * 2',
    '',
  ])
})
