import test from 'ava'
import fc from 'fast-check'
import {
  DEFAULTS,
  type Inputs,
  isAllowed,
  isScenePolicy,
  type NumberInput,
  ranges,
  type ScenePolicy,
  scenePolicies,
} from '../../dist/scene/model/inputs.js'
import { fromLink, toLink } from '../../dist/scene/model/link.js'

const names = Object.keys(ranges) as NumberInput[]
const policy = fc.constantFrom(...(Object.keys(scenePolicies) as ScenePolicy[]))

const numbers = Object.fromEntries(
  Object.entries(ranges).map(([name, { min, max, whole }]) => [
    name,
    whole ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true }).map((value) => value + 0),
  ]),
) as Record<NumberInput, fc.Arbitrary<number>>

const inputs: fc.Arbitrary<Inputs> = fc.record({
  policy,
  second: fc.option(policy, { nil: undefined }),
  ...numbers,
  servers: fc.option(numbers.servers, { nil: undefined }),
})

/** Whether an input is one that may be; only the number of servers may be left open. */
function isSet(inputs: Inputs, name: NumberInput): boolean {
  const value = inputs[name]
  return value === undefined ? name === 'servers' : isAllowed(name, value)
}

test('a link gives back the inputs that it was made of', (t) => {
  fc.assert(
    fc.property(inputs, (given) => {
      t.deepEqual(fromLink(toLink(given)), { inputs: given, ignored: [] })
    }),
    { numRuns: 500 },
  )
})

test('a link holds what differs from the defaults alone', (t) => {
  t.is(toLink(DEFAULTS), '')
  t.deepEqual(fromLink(''), { inputs: DEFAULTS, ignored: [] })
  t.deepEqual(fromLink('#'), { inputs: DEFAULTS, ignored: [] })
  const changed: Inputs = { ...DEFAULTS, policy: 'adaptive', second: 'round-robin', traffic: 1.25, seed: 7 }
  t.is(toLink(changed), '#policy=adaptive&second=round-robin&traffic=1.25&seed=7')
})

test('a link holds the fleet of the estimate too', (t) => {
  const fleet: Inputs = { ...DEFAULTS, users: 2_500_000, capacity: 50, servers: 6, targetLoad: 0.5 }
  t.is(toLink(fleet), '#users=2500000&capacity=50&targetLoad=0.5&servers=6')
  t.is(fromLink(toLink(fleet)).inputs.servers, 6)
  t.deepEqual(fromLink('#servers=1.5&users=-1&capacity=0').ignored, ['servers', 'users', 'capacity'])
})

test('the hash may come without its #, and with escapes', (t) => {
  t.like(fromLink('policy=least%2Dcpu&speed=4').inputs, { policy: 'least-cpu', speed: 4 })
})

test('whatever the hash is, nothing is thrown and every input is one that may be', (t) => {
  const value = fc.oneof(fc.string(), fc.double().map(String), fc.constantFrom('%', '%zz', '', 'adaptive'))
  const name = fc.oneof(
    fc.constantFrom('policy', 'second', ...names, '__proto__', 'constructor'),
    fc.string(),
  )
  const parts = fc.array(fc.tuple(name, value)).map((list) => list.map((pair) => pair.join('=')).join('&'))
  fc.assert(
    fc.property(fc.oneof(parts, fc.string({ unit: 'binary' })), (hash) => {
      const { inputs } = fromLink(`#${hash}`)
      t.true(isScenePolicy(inputs.policy))
      t.true(inputs.second === undefined || isScenePolicy(inputs.second))
      for (const name of names) t.true(isSet(inputs, name), name)
      t.deepEqual(Object.keys(inputs), Object.keys(DEFAULTS))
    }),
    { numRuns: 1_000 },
  )
})

test('values that may not be are left at their defaults, and their names told, each once and not at any length', (t) => {
  const { inputs, ignored } = fromLink(
    '#policy=fastest&traffic=300&balancers=1.5&speed=&seed=-1&lost=NaN&utm=1&utm=2&dot=50&reportInterval=1e400',
  )
  t.deepEqual(inputs, { ...DEFAULTS, dot: 50 })
  t.deepEqual(ignored, ['policy', 'traffic', 'balancers', 'speed', 'seed', 'lost', 'utm', 'reportInterval'])
  t.deepEqual(fromLink(`#${'x'.repeat(1_000)}=1`).ignored, [`${'x'.repeat(32)}…`])
  const many = Array.from({ length: 1_000 }, (_, i) => `k${i}=1`).join('&')
  t.is(fromLink(`#${many}`).ignored.length, 11)
  t.is(fromLink(`#${many}`).ignored.at(-1), '…')
})

test('the bounds of each input are allowed, and nothing beyond them', (t) => {
  for (const name of names) {
    const { min, max } = ranges[name]
    t.true(isAllowed(name, min) && isAllowed(name, max) && isSet(DEFAULTS, name), name)
    t.false(isAllowed(name, min - 0.01) || isAllowed(name, max * 2) || isAllowed(name, Number.NaN), name)
  }
})
