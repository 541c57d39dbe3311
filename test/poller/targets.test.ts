import test from 'ava'
import {
  createBalancer,
  createTable,
  functionTransport,
  httpTransport,
  OptionError,
} from '../../dist/index.js'
import { Targets } from '../../dist/poller/targets.js'
import { resolveHttp } from '../../dist/poller/transports/http.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { Table } from '../../dist/table/table.js'
import { httpPoller, idOf, readingOf, reporting, serve, virtualPoller } from './agents.js'

const answering = (cpu: number) => functionTransport(async () => ({ cpu }))

test('a transport of one’s own can differ by node, and is asked for once a node', async (t) => {
  const asked: string[] = []
  const { clock, table, poller } = virtualPoller({
    transport: (id) => {
      asked.push(id)
      return answering(id === 'a' ? 10 : 20)
    },
  })
  poller.setMembers(['a', 'b'].map((id) => table.claim(id)))
  poller.start()
  await clock.advance(10_000)
  t.true(poller.counters.cycles >= 2)
  t.is(readingOf(table, 'a')?.cpu, 10)
  t.is(readingOf(table, 'b')?.cpu, 20)
  t.deepEqual(asked, ['a', 'b'])
})

test('one balancer asks some nodes by the polling thread and others by a function', async (t) => {
  const server = await serve(t, reporting(64))
  const { table, poller } = httpPoller(t, {
    transport: (id) => (id === 'own' ? answering(7) : httpTransport()),
  })
  poller.setMembers([table.claim(idOf(server)), table.claim('own'), table.claim('no host')])
  poller.start()
  await poller.ready
  t.is(readingOf(table, idOf(server))?.cpu, 64)
  t.is(readingOf(table, 'own')?.cpu, 7)
  t.like(poller.counters, { asked: 3, stored: 2, error: 1 })
  t.is(table.publications, 1)
})

const wrong: [string, () => unknown, RegExp][] = [
  [
    'throws',
    () => {
      throw new Error('who is that')
    },
    /threw for it: who is that/,
  ],
  ['gives nothing', () => undefined, /gave undefined for it: expected a transport/],
  ['gives a promise', async () => httpTransport(), /gave .* expected a transport/],
  [
    'gives a kind that nobody knows',
    () => ({ kind: 'carrier pigeon', settings: {} }),
    /expected a transport/,
  ],
  ['gives a function', () => () => httpTransport(), /expected a transport/],
]
for (const [what, give, reason] of wrong) {
  test(`a function that ${what} for a node makes that one unaskable, and no other`, async (t) => {
    const { clock, table, poller } = virtualPoller({
      transport: (id) => (id === 'wrong' ? (give() as never) : answering(3)),
    })
    poller.setMembers([table.claim('wrong'), table.claim('right')])
    poller.start()
    await clock.advance(0)
    t.like(poller.counters, { asked: 2, stored: 1, error: 1, exit: 0 })
    t.is(readingOf(table, 'right')?.cpu, 3)
    const targets = new Targets(() => give() as never)
    const target = targets.of(table.claim('wrong'))
    t.regex(target.kind === 'none' ? target.reason : '', reason)
  })
}

test('a node that left and came back is asked for again', (t) => {
  const asked: string[] = []
  const table = new Table(new VirtualClock())
  const targets = new Targets((id) => {
    asked.push(id)
    return httpTransport()
  })
  const first = table.claim('a')
  targets.of(first)
  targets.of(first)
  table.unclaim(first)
  targets.of(table.claim('a'))
  t.deepEqual(asked, ['a', 'a'])
})

test('a function transport is given the node and a signal, and its report is checked', async (t) => {
  const clock = new VirtualClock()
  const table = createTable({ clock })
  const signals: AbortSignal[] = []
  const balancer = createBalancer({
    nodes: ['slow', 'wrong', 'right'],
    table,
    poll: {
      startupJitter: 0,
      transport: functionTransport(async (node, signal) => {
        if (node === 'slow') {
          signals.push(signal)
          return new Promise(() => {})
        }
        return { cpu: node === 'right' ? 5 : -5 }
      }),
    },
  })
  await clock.advance(2_000)
  t.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  )
  t.like(balancer.stats().poll, { asked: 3, stored: 1, error: 1, exit: 1 })
  t.is(readingOf(table, 'right')?.cpu, 5)
  await balancer.close()
})

test('functionTransport and poll.transport refuse what can’t be asked', (t) => {
  t.throws(() => functionTransport({} as never), { instanceOf: OptionError })
  for (const transport of [
    {},
    null,
    'http',
    { kind: 'http' },
    { kind: 'toString', settings: {} },
    { poll: 1 },
  ]) {
    const error = t.throws(() => createBalancer({ poll: { transport: transport as never } }), {
      instanceOf: OptionError,
    })
    t.is(error.option, 'poll.transport')
  }
})

test('an id may be an origin: its protocol counts unless the transport names a port', (t) => {
  const urlOf = (id: string, options: object = {}) => {
    const { origin, path } = resolveHttp(id, httpTransport(options).settings)
    return origin + path
  }
  t.is(urlOf('http://10.0.0.1:8080'), 'http://10.0.0.1:8080/report')
  t.is(urlOf('http://10.0.0.1:8080/'), 'http://10.0.0.1:8080/report')
  t.is(urlOf('HTTPS://[::1]:8443'), 'https://[::1]:8443/report')
  t.is(urlOf('https://10.0.0.1'), 'https://10.0.0.1/report')
  t.is(urlOf('https://10.0.0.1:8443', { port: 9_000 }), 'http://10.0.0.1:9000/report')
  for (const id of ['http://a/path', 'http://user@a:1', 'ftp://a:1', 'http://']) {
    t.throws(() => urlOf(id), { message: /not host:port/ }, id)
  }
})
