import type { LookupAddress } from 'node:dns'
import test from 'ava'
import { LookupBudget } from '../../dist/poller/lookup-budget.js'
import { Lookups, type ResolveAll } from '../../dist/poller/lookups.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

interface Running {
  readonly name: string
  answer(...addresses: string[]): void
  fail(): void
}

const all = (...addresses: string[]): LookupAddress[] => addresses.map((address) => ({ address, family: 4 }))

const word = () => new SharedArrayBuffer(4)

function setUp(budget = new LookupBudget(word(), word()), clock = new VirtualClock()) {
  const running: Running[] = []
  const resolve: ResolveAll = (name, _, callback) => {
    const end = () => running.splice(running.indexOf(one), 1)
    const one: Running = {
      name,
      answer(...addresses) {
        end()
        callback(null, all(...addresses))
      },
      fail() {
        end()
        callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), undefined as never)
      },
    }
    running.push(one)
  }
  const { lookup } = new Lookups(clock, resolve, budget)
  const heard: string[] = []
  const ask = (name: string) =>
    lookup(name, { all: true }, (error, addresses) => {
      heard.push(`${name} ${error?.code ?? (addresses as LookupAddress[]).map(({ address }) => address)}`)
    })
  const names = () => running.map(({ name }) => name)
  return { clock, running, names, lookup, ask, heard }
}

test('whoever asks for a name that is looked up shares the answer', (t) => {
  const { running, names, ask, heard } = setUp()
  for (let i = 0; i < 3; i++) ask('a')
  t.deepEqual(names(), ['a'])
  running[0]?.answer('10.0.0.1', '10.0.0.2')
  t.deepEqual(heard, Array(3).fill('a 10.0.0.1,10.0.0.2'))
})

test('two names are looked up at a time, the others in their order', (t) => {
  const { running, names, ask } = setUp()
  for (const name of ['a', 'b', 'c', 'd']) ask(name)
  t.deepEqual(names(), ['a', 'b'])
  running[1]?.answer('10.0.0.1')
  t.deepEqual(names(), ['a', 'c'])
})

test('while DNS hangs sockets are told so, and lookups do not pile up', (t) => {
  const { clock, running, names, ask, heard } = setUp()
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 20; i++) ask(`n${i}`)
    clock.jump(5_000)
  }
  t.is(running.length, 2)
  // Those of the last 10 s are still waiting.
  t.is(heard.length, 49 * 20)
  t.true(heard.every((said) => said.endsWith('ETIMEOUT')))
  clock.jump(10_000)
  heard.length = 0
  // Nobody waits for the others.
  for (const one of [...running]) one.answer('10.0.0.1')
  t.deepEqual(names(), [])
  t.deepEqual(heard, [])
})

test('names that are slow to look up hold up no others', (t) => {
  const { clock, running, names, ask, heard } = setUp()
  for (const name of ['slow', 'slower']) ask(name)
  clock.jump(2_000)
  for (const one of [...running]) one.fail()
  t.deepEqual(heard, ['slow ENOTFOUND', 'slower ENOTFOUND'])
  for (const name of ['slow', 'slower', 'a', 'b']) ask(name)
  t.deepEqual(names(), ['slow', 'a'])
  running[1]?.answer('10.0.0.1')
  t.deepEqual(names(), ['slow', 'b'])
  running[1]?.answer('10.0.0.1')
  t.deepEqual(names(), ['slow'])
  running[0]?.answer('10.0.0.1')
  t.deepEqual(names(), ['slower'])
})

test('addresses are good for 5 s, a failure not at all', async (t) => {
  const { clock, running, names, ask, heard } = setUp()
  ask('a')
  running[0]?.answer('10.0.0.1')
  clock.jump(4_999)
  ask('a')
  t.deepEqual(names(), [])
  await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(heard, ['a 10.0.0.1', 'a 10.0.0.1'])
  clock.jump(1)
  ask('a')
  t.deepEqual(names(), ['a'])
  running[0]?.fail()
  ask('a')
  t.deepEqual(names(), ['a'])
})

test('sockets that want one address get the first', (t) => {
  const { running, lookup } = setUp()
  const heard: unknown[] = []
  lookup('a', {}, (...said) => heard.push(said))
  running[0]?.answer('10.0.0.1', '10.0.0.2')
  t.deepEqual(heard, [[null, '10.0.0.1', 4]])
})

test('several threads look up two names at a time together, and none waits for ever', async (t) => {
  const ofAll = word()
  const clock = new VirtualClock()
  const threads = [1, 2, 3].map(() => setUp(new LookupBudget(ofAll, word()), clock))
  for (const [i, { ask }] of threads.entries()) for (const name of ['a', 'b', 'c']) ask(`${name}${i}`)
  const running = () => threads.flatMap(({ running }) => running)
  const asked: string[] = []
  while (running().length > 0) {
    t.true(running().length <= 2)
    const [one] = running()
    asked.push(one?.name ?? '')
    one?.answer('10.0.0.1')
    await clock.advance(20)
  }
  t.deepEqual(asked.sort(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2'])
  t.is(clock.pending, 0)
})

test('what a thread that ended had under way is given back', async (t) => {
  const ofAll = word()
  const held = word()
  const clock = new VirtualClock()
  const ended = setUp(new LookupBudget(ofAll, held), clock)
  const other = setUp(new LookupBudget(ofAll, word()), clock)
  for (const name of ['a', 'b', 'c']) ended.ask(name)
  other.ask('d')
  await clock.advance(100)
  t.deepEqual(other.names(), [])
  new LookupBudget(ofAll, held).giveBackAll()
  await clock.advance(100)
  t.deepEqual(other.names(), ['d'])
})
