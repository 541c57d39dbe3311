import test from 'ava'
import { createBalancer, createTable, OptionError, random } from '../../dist/index.js'

const balancer = createBalancer({
  nodes: ['a', 'b'],
  poll: false,
  algorithm: random(),
  table: createTable(),
})

const anyArgument = (value: unknown) => value as never

for (const [what, given, message] of [
  ['a misspelt exclude', { exclud: ['a'] }, /select\.exclud .* the nearest is "exclude"/],
  ['an unknown option beside exclude', { exclude: ['a'], tried: 1 }, /select\.tried .* known option/],
  ['a node', { id: 'a' }, /select\.id .* known option/],
  ['a set of nodes', new Set(['a']), /an array of nodes, or options such as/],
  ['a promise of options', Promise.resolve({}), /an array of nodes, or options such as/],
  ['a typed array', new Uint8Array(2), /an array of nodes, or options such as/],
] as const) {
  test(`${what} in place of select's options is an error, not a pick`, async (t) => {
    const expected = { instanceOf: OptionError, message }
    t.throws(() => balancer.select(anyArgument(given)), expected)
    t.throws(() => balancer.trySelect(anyArgument(given)), expected)
    t.throws(() => balancer.acquire(anyArgument(given)), expected)
    // run() has options of its own beside those of select().
    const ofRun = message.source.startsWith('select')
      ? message.source.replace('select', 'run')
      : 'object of options'
    await t.throwsAsync(
      balancer.run(() => 0, anyArgument(given)),
      { instanceOf: OptionError, message: new RegExp(ofRun) },
    )
  })
}

test('acquire and run take no array in place of options', async (t) => {
  t.throws(() => balancer.acquire(anyArgument(['a'])), { instanceOf: OptionError })
  await t.throwsAsync(
    balancer.run(() => 0, anyArgument(['a'])),
    { instanceOf: OptionError },
  )
})

test('run takes a function alone, and leases nothing for anything else', async (t) => {
  const { acquired } = balancer.stats().leases
  for (const work of [undefined, null, 5, 'a', {}, Promise.resolve()]) {
    await t.throwsAsync(balancer.run(anyArgument(work)), {
      instanceOf: OptionError,
      message: /^option work is .*: expected a function/,
    })
  }
  t.is(balancer.stats().leases.acquired, acquired)
})
