import test from 'ava'
import { nodeExporterTransport } from '../../dist/index.js'
import { CpuRate } from '../../dist/poller/cpu-rate.js'
import { HttpExchange, type HttpReading } from '../../dist/poller/http-exchange.js'
import { orcaReading } from '../../dist/poller/orca-reading.js'
import { ENDLESS, sendEndlessly } from '../support/hostile-http.js'
import { httpPoller, idOf, readingOf, reporting, serve, serveTcp } from './agents.js'

const RIGHT = 'HTTP/1.1 200 OK\r\ncontent-length: 23\r\n\r\n{"cpu_utilization":0.5}'
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const UNTIL_CLOSE = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'

interface Flooded {
  readonly exchange: HttpExchange
  readonly taken: number
}

/** Sends this in pieces until no more is read, at most 64 MiB. */
function flood(reading: HttpReading, begin: string, again: string, piece: number): Flooded {
  const exchange = new HttpExchange(reading, () => 0)
  const repeated = Buffer.from(again.repeat(Math.ceil((piece + again.length) / again.length)))
  exchange.take(Buffer.from(begin))
  let taken = begin.length
  let offset = 0
  while (!exchange.ended && taken < 64 * 1024 * 1024) {
    exchange.take(repeated.subarray(offset, offset + piece))
    offset = (offset + piece) % again.length
    taken += piece
  }
  return { exchange, taken }
}

for (const [what, begin, again] of ENDLESS) {
  test(`of an answer with ${what} without end a bounded number of bytes is read, and the node has failed`, async (t) => {
    for (const piece of [1, 1_000, 65_536]) {
      const { exchange, taken } = flood(orcaReading(undefined), begin, again, piece)
      t.like(await exchange.answer, { kind: 'error' })
      t.is(exchange.keptFor, 0)
      t.true(taken <= 96 * 1024 + piece, `${taken} bytes in pieces of ${piece}`)
    }
  })
}

test('of a page without line breaks 64 KiB are read', async (t) => {
  for (const name of ['x', ' ', 'node_cpu_seconds_total ', 'node_cpu_seconds_total{a="']) {
    const { exchange, taken } = flood(new CpuRate({ kind: 'node' }), UNTIL_CLOSE, name, 4_096)
    t.like(await exchange.answer, { kind: 'error', reason: 'a line of more than 65536 bytes' })
    t.true(taken < 80_000, `${taken} bytes`)
  }
})

/** A right answer, however it comes in pieces. */
function asRead(text: string, size: number): HttpExchange {
  const exchange = new HttpExchange(orcaReading(undefined), () => 7)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) exchange.take(bytes.subarray(at, at + size))
  return exchange
}

for (const [what, text] of [
  ['of a told length', RIGHT],
  ['in chunks', `${CHUNKED}a;x="y"\r\n{"cpu_util\r\nD\r\nization":0.5}\r\n0\r\ntrailer: x\r\n\r\n`],
  ['after interim answers', `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 102 P\r\n\r\n${RIGHT}`],
  [
    'of HTTP/1.0 that is kept',
    RIGHT.replace('1.1', '1.0').replace('\r\n\r\n', '\r\nconnection: keep-alive\r\n\r\n'),
  ],
] as const) {
  test(`an answer ${what} is read wherever it is cut into pieces`, async (t) => {
    for (let size = 1; size <= text.length; size++) {
      const exchange = asRead(text, size)
      t.true(exchange.ended)
      t.is(exchange.keptFor, Number.POSITIVE_INFINITY)
      t.deepEqual(await exchange.answer, { kind: 'report', report: { cpu: 50 }, at: 7 })
    }
  })
}

test('an answer in very small pieces is given up soon, and one in pieces of 64 bytes is read', async (t) => {
  for (const [begin, again] of [
    [CHUNKED, '1\r\n \r\n'],
    [UNTIL_CLOSE, ' '],
    ['HTTP/1.1 200 OK\r\nx: ', 'y'],
  ] as const) {
    const { exchange, taken } = flood(orcaReading(undefined), begin, again, 1)
    t.deepEqual(await exchange.answer, { kind: 'error', reason: 'an answer in too many small pieces' })
    t.true(taken < 300, `${taken} bytes`)
  }
  const long = `{"cpu_utilization":0.5,"x":"${'y'.repeat(50_000)}"}`
  const text = `HTTP/1.1 200 OK\r\ncontent-length: ${long.length}\r\n\r\n${long}`
  t.like(await asRead(text, 64).answer, { kind: 'report' })
})

test('a connection is kept as long as the node says, and not where it says so or sends more than was asked', async (t) => {
  const keptFor = (text: string) => asRead(text, text.length).keptFor
  const withField = (field: string, minor = 1) =>
    keptFor(RIGHT.replace('HTTP/1.1', `HTTP/1.${minor}`).replace('\r\n\r\n', `\r\n${field}\r\n\r\n`))
  t.is(withField('keep-alive: timeout=5, max=100'), 5_000)
  t.is(withField('connection: Close'), 0)
  t.is(withField('connection: keep-alive, close'), 0)
  t.is(withField('x: y', 0), 0)
  t.is(keptFor(`${RIGHT}HTTP/1.1 200 OK\r\n`), 0)
})

for (const [what, text] of [
  ['a length that is no number', RIGHT.replace('23', '0x17')],
  ['a negative length', RIGHT.replace('23', '-23')],
  ['a length and chunks', RIGHT.replace('\r\n\r\n', '\r\ntransfer-encoding: chunked\r\n\r\n')],
  ['another transfer coding', CHUNKED.replace('chunked', 'gzip, chunked')],
  ['a chunk size that is no number', `${CHUNKED}x\r\n`],
  ['a chunk longer than its size', `${CHUNKED}1\r\nxx`],
  ['a field without a colon', RIGHT.replace('\r\n\r\n', '\r\nfield\r\n\r\n')],
  ['a line feed in a field', RIGHT.replace('\r\n\r\n', '\r\nx: y\nz: 1\r\n\r\n')],
  ['a blank before a colon', RIGHT.replace('content-length:', 'content-length :')],
  ['version 2', RIGHT.replace('1.1', '2.0')],
  ['a status of two digits', RIGHT.replace('200', '20')],
] as const) {
  test(`an answer with ${what} is the node's mistake`, async (t) => {
    t.like(await asRead(text, text.length).answer, { kind: 'error' })
  })
}

test('beside nodes that send without end all good nodes are read in each cycle', async (t) => {
  const servers = await Promise.all(
    ENDLESS.map(([, begin, again]) => serveTcp(t, (socket) => sendEndlessly(socket, begin, again))),
  )
  const hostile = servers.map(idOf)
  const good = await Promise.all(
    Array.from({ length: 9 * hostile.length }, async (_, i) => idOf(await serve(t, reporting(i % 100)))),
  )
  let cycles = 0
  await new Promise<void>((resolve) => {
    const { table, poller } = httpPoller(t, {
      interval: 10,
      timeout: 20_000,
      onCycle: ({ stored, failed }) => {
        cycles++
        t.is(stored, good.length)
        t.deepEqual(new Set(failed.map(({ node }) => node)), new Set(hostile))
        t.true(failed.every(({ kind }) => kind === 'error'))
        t.true(good.every((id, i) => Math.round(readingOf(table, id)?.cpu ?? -1) === i % 100))
        if (cycles === 5) resolve()
      },
    })
    poller.setMembers([...good, ...hostile].map((id) => table.claim(id)))
    poller.start()
  })
})

test('beside pages for Prometheus without line breaks all good pages are read in each cycle', async (t) => {
  const page = (count: number) =>
    `node_cpu_seconds_total{cpu="0",mode="idle"} ${count}\nnode_cpu_seconds_total{cpu="0",mode="user"} ${count}\n`
  let count = 0
  const good = await Promise.all(
    Array.from({ length: 36 }, async () =>
      idOf(await serve(t, (_, response) => response.end(page(++count)))),
    ),
  )
  const hostile = await Promise.all(
    ['x', ' ', 'node_cpu_seconds_total ', '\t'].map(async (again) =>
      idOf(await serveTcp(t, (socket) => sendEndlessly(socket, UNTIL_CLOSE, again))),
    ),
  )
  let cycles = 0
  await new Promise<void>((resolve) => {
    const { table, poller } = httpPoller(t, {
      transport: nodeExporterTransport({ node: (id) => ({ url: `http://${id}/metrics` }) }),
      interval: 10,
      timeout: 20_000,
      onCycle: ({ stored, heard, failed }) => {
        cycles++
        t.is(stored + heard, good.length)
        t.deepEqual(new Set(failed.map(({ node }) => node)), new Set(hostile))
        if (cycles === 4) resolve()
      },
    })
    poller.setMembers([...good, ...hostile].map((id) => table.claim(id)))
    poller.start()
  })
})

test('a node whose answers are refused again and again is asked in each eighth cycle, and fails in each', async (t) => {
  let connections = 0
  let isRight = false
  const server = await serveTcp(t, (socket) => {
    connections++
    socket.on('end', () => socket.destroy())
    socket.on('data', () => socket.write(isRight ? RIGHT : 'HTTP/2 what?\r\n\r\n'))
  })
  const seen: number[] = []
  let failed = 0
  let stored = 0
  await new Promise<void>((resolve) => {
    const { table, poller } = httpPoller(t, {
      interval: 1,
      timeout: 20_000,
      onCycle: (tally) => {
        seen.push(connections)
        if (!isRight) failed += tally.failed.length
        stored += tally.stored
        if (seen.length === 40) isRight = true
        if (stored === 2) resolve()
      },
    })
    poller.setMembers([table.claim(idOf(server))])
    poller.start()
  })
  t.is(failed, 40)
  // In the first three cycles, then after 1, 3, 7 and 7 of them.
  t.deepEqual(
    [1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 25].map((cycle) => seen[cycle - 1]),
    [1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7],
  )
  // Once it is right, it is asked in each cycle again.
  t.true(seen.length <= 40 + 8 + 2)
})
