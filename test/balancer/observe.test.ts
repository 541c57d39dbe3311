import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Metadata } from '@grpc/grpc-js'
import test from 'ava'
import fc from 'fast-check'
import {
  attachBalancer,
  createBalancer,
  leastCpu,
  type Observed,
  OptionError,
  type Report,
  type ReportErrorEvent,
  type ReportSource,
  random,
} from '../../dist/index.js'
import { writeOrcaHeader } from '../../dist/reports/orca-headers.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { eventsOf } from '../support/events.js'
import { warningsOf } from '../support/warnings.js'

const REPORT = 'endpoint-load-metrics'
const BINARY = 'endpoint-load-metrics-bin'

const own = () => ({ poll: false, algorithm: random(), clock: new VirtualClock(), seed: 1 }) as const

const text = (report: Report) => writeOrcaHeader(report, 'TEXT')
const base64 = (report: Report) => writeOrcaHeader(report, 'BIN').slice('BIN '.length)
const bytes = (report: Report) => Buffer.from(base64(report), 'base64')

function metadata(...pairs: [string, string | Buffer][]): Metadata {
  const all = new Metadata()
  for (const [name, value] of pairs) all.add(name, value)
  return all
}

/** A report in all that headers come in; each with what tells whether it still has them. */
const sources: Record<string, (report: Report) => ReportSource> = {
  'an object': (report) => ({ 'content-type': 'x', [REPORT]: text(report) }),
  'an object, JSON': (report) => ({ [REPORT]: writeOrcaHeader(report, 'JSON') }),
  'an object, BIN': (report) => ({ [REPORT]: writeOrcaHeader(report, 'BIN') }),
  'an object, -bin': (report) => ({ [BINARY]: base64(report) }),
  'an object of arrays': (report) => ({ [REPORT]: [text({ cpu: 1 }), text(report)] }),
  'an object with a header called get': (report) => ({ get: 'x', [REPORT]: text(report) }),
  'an object without prototype': (report) =>
    Object.assign(Object.create(null) as Record<string, unknown>, { [REPORT]: text(report) }),
  Headers: (report) => new Headers({ 'Endpoint-Load-Metrics': text(report) }),
  'Headers, -bin': (report) => new Headers({ [BINARY]: base64(report) }),
  Map: (report) => new Map([[REPORT, text(report)]]),
  Metadata: (report) => metadata([REPORT, text(report)]),
  'Metadata, -bin': (report) => metadata([BINARY, bytes({ cpu: 1 })], [BINARY, bytes(report)]),
  'raw strings': (report) => ['Date', 'x', 'Endpoint-Load-Metrics', text(report), 'Vary', 'y'],
  'raw buffers': (report) =>
    ['Date', 'x', 'endpoint-LOAD-metrics', text(report)].map((part) => Buffer.from(part)),
  'raw buffers, -bin': (report) => [Buffer.from(BINARY), Buffer.from(base64(report)), Buffer.from('odd')],
}

for (const [name, make] of Object.entries(sources)) {
  test(`a report is taken off ${name}`, (t) => {
    const balancer = createBalancer({ ...own(), nodes: ['a', 'b'] })
    const report = { cpu: 37.5, qps: 120, inFlight: 4 }
    t.is(balancer.observe('b', make(report)), 'stored')
    t.deepEqual(balancer.snapshot()[1]?.report, report)
    t.is(balancer.stats().inBand.stored, 1)
  })

  test(`stripHeader takes the report out of ${name}, and nothing else`, (t) => {
    const balancer = createBalancer({ ...own(), nodes: ['a'] })
    const source = make({ cpu: 20 })
    const rest = (): number => {
      if (Array.isArray(source)) return source.length
      if (source instanceof Metadata) return Object.keys(source.getMap()).length
      return source instanceof Headers || source instanceof Map
        ? [...source].length
        : Object.keys(source).length
    }
    const before = rest()
    t.is(balancer.observe('a', source, { stripHeader: false }), 'stored')
    t.is(rest(), before)
    t.is(balancer.observe('a', source, { stripHeader: true }), 'stored')
    t.is(rest(), before - (Array.isArray(source) ? 2 : 1))
    t.is(balancer.observe('a', source, { stripHeader: true }), 'absent')
  })
}

test('stripHeader takes out both headers, also of a report that is bad or of a node that is no member', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a'] })
  for (const node of ['a', 'x']) {
    const headers = { [REPORT]: text({ cpu: 1 }), [BINARY]: '!', other: 'x' }
    balancer.observe(node, headers, { stripHeader: true })
    t.deepEqual(headers, { other: 'x' } as never)
  }
  const response = Response.json({})
  const frozen = Object.freeze({ [REPORT]: text({ cpu: 30 }) })
  t.throws(() => balancer.observe('a', frozen, { stripHeader: true }), {
    instanceOf: OptionError,
    message: /stripHeader/,
  })
  t.is(balancer.snapshot()[0]?.cpu, 30)
  t.is(balancer.observe('a', response.headers, { stripHeader: true }), 'absent')
})

test('the header of bytes goes before the other', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a'] })
  balancer.observe('a', { [REPORT]: text({ cpu: 1 }), [BINARY]: base64({ cpu: 2 }) })
  t.is(balancer.snapshot()[0]?.cpu, 2)
  t.is(balancer.observe('a', { [REPORT]: text({ cpu: 3 }), [BINARY]: '?' }), 'bad')
  t.is(balancer.snapshot()[0]?.cpu, 2)
})

test('what becomes of each response is told and counted', async (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a'] })
  const cases: [ReportSource | undefined | null, Observed][] = [
    [{ [REPORT]: text({ cpu: 5 }) }, 'stored'],
    [{ [REPORT]: text({ cpu: 6, age: 1_000 }) }, 'older'],
    [{ [REPORT]: text({ named: { mine: 1 } }) }, 'empty'],
    [{ [REPORT]: 'TEXT ' }, 'empty'],
    [{ [REPORT]: text({ state: 'drain', cpu: 9, age: 1_000 }) }, 'stored'],
    [{}, 'absent'],
    [[], 'absent'],
    [undefined, 'absent'],
    [null, 'absent'],
    [{ [REPORT]: undefined }, 'absent'],
    [metadata(), 'absent'],
    [{ [REPORT]: 'TEXT cpu_utilization=-1' }, 'bad'],
    [{ [REPORT]: '' }, 'bad'],
    [{ [REPORT]: 5 }, 'bad'],
    [{ [BINARY]: new Date(0) }, 'bad'],
    [{ [BINARY]: Buffer.from([0xff]) }, 'bad'],
  ]
  for (const [source, right] of cases) t.is(balancer.observe('a', source), right, JSON.stringify(source))
  t.is(balancer.observe('x', { [REPORT]: text({ cpu: 5 }) }), 'unknown')
  t.is(balancer.observe(7 as never, { [REPORT]: 'what?' }), 'unknown')
  t.is(balancer.observe('x', {}), 'absent')
  t.deepEqual(balancer.stats().inBand, {
    stored: 2,
    older: 1,
    empty: 2,
    absent: 7,
    bad: 5,
    unknown: 2,
    warned: 2,
    unknownFields: 0,
  })
  await balancer.close()
  t.is(balancer.observe('a', { [REPORT]: text({ cpu: 5 }) }), 'unknown')
})

test('a report that can not be used is told each time, and warned of once a node and header', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error & { code?: string }) => {
    if (warning.code === 'IDLEST_REPORT_ERROR' && warning.message.startsWith('mine')) warnings.push(warning)
  }
  const told = eventsOf(t, 'mine', ['idlest:report:error'])
  process.on('warning', onWarning)
  const balancer = createBalancer({ ...own(), name: 'mine', nodes: ['a', 'b'] })
  for (const node of ['a', 'b', 'a', 'a', 'x']) balancer.observe(node, { [REPORT]: 'TEXT cpu_utilization=x' })
  balancer.observe('a', { [REPORT]: text({ cpu: 1 }) })
  balancer.observe('a', { [REPORT]: 'TEXT cpu_utilization=x' })
  balancer.observe('a', { [BINARY]: 'x' })
  await new Promise(setImmediate)
  process.off('warning', onWarning)
  const events = told.map(([, event]) => event as ReportErrorEvent)
  t.deepEqual(
    events.map(({ node, header }) => [node, header]),
    [
      ['a', REPORT],
      ['b', REPORT],
      ['a', REPORT],
      ['a', REPORT],
      ['a', REPORT],
      ['a', BINARY],
    ],
  )
  t.true(
    events.every(
      ({ error }) => error instanceof Error && 'code' in error && error.code === 'IDLEST_BAD_REPORT',
    ),
  )
  t.is(warnings.length, 3)
  t.is(balancer.stats().inBand.warned, 3)
  t.regex(
    warnings[0]?.message ?? '',
    /a report in a response of node "a" \(endpoint-load-metrics\): can't be used.*cpu_utilization/,
  )
})

test('200 nodes whose reports are bad alike give three warnings, and then one about all others', async (t) => {
  const warnings = warningsOf(t, 'IDLEST_REPORT_ERROR', 'many')
  const clock = new VirtualClock()
  const nodes = Array.from({ length: 200 }, (_, i) => `n${i}`)
  const balancer = createBalancer({ ...own(), clock, name: 'many', nodes })
  const said = async () => {
    await new Promise(setImmediate)
    return warnings.length
  }
  const all = () => {
    for (const node of nodes) balancer.observe(node, { [REPORT]: 'TEXT cpu_utilization=x' })
  }
  all()
  all()
  t.is(await said(), 3)
  await clock.advance(20_000)
  t.is(await said(), 4)
  t.regex(
    warnings[3] ?? '',
    /of 197 more nodes, such as node "n3" \(endpoint-load-metrics\): .*; node "n4".*; node "n5"/,
  )
  all()
  await clock.advance(20_000)
  t.is(await said(), 4)
  t.like(balancer.stats().inBand, { bad: 600, warned: 200 })
  // Those that fail later are warned of as the first ones were; what is held back is said at the end.
  for (let i = 0; i < 5; i++) {
    balancer.add(`late-${i}`)
    balancer.observe(`late-${i}`, { [REPORT]: 'TEXT cpu_utilization=x' })
  }
  t.is(await said(), 7)
  await balancer.close()
  t.is(await said(), 8)
  t.regex(warnings[7] ?? '', /of 2 more nodes, such as node "late-3"/)
  t.is(clock.pending, 0)
})

for (const [form, header, name] of [
  ['TEXT', 'TEXT cpu_utilisation=0.5,application_utilization=0.25', 'cpu_utilisation'],
  ['JSON', 'JSON {"cpuUtilisation":0.5,"applicationUtilization":0.25}', 'cpuUtilisation'],
] as const) {
  test(`a misspelt field of a ${form} header is counted each time, and warned of once a node; the others are used`, async (t) => {
    const mine = `misspelt ${form}`
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => {
      if (message.startsWith(`${mine}: `)) warnings.push(message)
    }
    process.on('warning', onWarning)
    t.teardown(() => process.off('warning', onWarning))
    const events = eventsOf(t, mine, ['idlest:report:unknown-fields'])
    const balancer = createBalancer({ ...own(), name: mine, nodes: ['a', 'b'] })
    for (const node of ['a', 'a', 'b', 'a']) t.is(balancer.observe(node, { [REPORT]: header }), 'stored')
    balancer.observe('a', { [REPORT]: text({ cpu: 1 }) })
    balancer.observe('a', { [REPORT]: header })
    await new Promise(setImmediate)
    t.is(balancer.stats().inBand.unknownFields, 5)
    t.is(balancer.stats().inBand.bad, 0)
    t.is(balancer.snapshot()[0]?.report?.application, 25)
    t.is(warnings.length, 2)
    t.true(warnings[0]?.includes(`"${name}" (the nearest known field is "cpu_utilization")`), warnings[0])
    const fields = [{ name, nearest: 'cpu_utilization' }]
    t.deepEqual(
      events.map(([, event]) => event),
      ['a', 'b'].map((node) => ({ balancer: mine, node, header: REPORT, fields })),
    )
  })
}

test('what are no headers, and options that are none, are refused', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a'] })
  for (const wrong of ['x', 5, true, () => {}]) {
    t.throws(() => balancer.observe('a', wrong as never), { instanceOf: OptionError, message: /headers/ })
  }
  t.throws(() => balancer.observe('a', {}, { stripheader: true } as never), {
    instanceOf: OptionError,
    message: /observe\.stripheader.*"stripHeader"/,
  })
  t.throws(() => balancer.observe('a', {}, { stripHeader: 1 } as never), { instanceOf: OptionError })
  t.throws(() => createBalancer({ ...own(), coalesce: -1 }), { instanceOf: OptionError, message: /coalesce/ })
})

for (const [coalesce, spacing] of [
  [undefined, 50],
  [200, 200],
] as const) {
  test(`picks see what responses say at once, and then each ${spacing} ms`, async (t) => {
    const clock = new VirtualClock()
    const given = { ...own(), clock, nodes: ['a', 'b'], algorithm: leastCpu({ threshold: 0 }) }
    const balancer = createBalancer(coalesce === undefined ? given : { ...given, coalesce })
    const observe = (node: string, cpu: number) => balancer.observe(node, { [REPORT]: text({ cpu }) })
    observe('a', 40)
    t.is(balancer.select(), 'a')
    observe('b', 30)
    t.is(balancer.select(), 'a')
    await clock.advance(spacing - 1)
    observe('b', 20)
    t.is(balancer.select(), 'a')
    await clock.advance(1)
    t.is(balancer.select(), 'b')
    t.is(clock.pending, 0)
    await clock.advance(spacing)
    observe('a', 10)
    t.is(balancer.select(), 'a')
    observe('b', 0)
    await balancer.close()
    t.is(clock.pending, 0)
  })
}

test('with coalesce 0 the very next pick sees each response, and always what it says of the state', (t) => {
  const given = { ...own(), nodes: ['a', 'b'], algorithm: leastCpu({ threshold: 0 }) }
  const each = createBalancer({ ...given, coalesce: 0 })
  for (let i = 10; i > 0; i--) {
    const node = i % 2 === 0 ? 'a' : 'b'
    each.observe(node, { [REPORT]: text({ cpu: i }) })
    t.is(each.select(), node)
  }
  const balancer = createBalancer(given)
  for (const [node, other] of ['ab', 'ba', 'ab'].map(([node = '', other = '']) => [node, other] as const)) {
    balancer.observe(node, { [REPORT]: text({ state: 'drain' }) })
    balancer.observe(other, { [REPORT]: text({ state: 'up' }) })
    t.is(balancer.select(), other)
  }
})

test('an attached balancer takes reports off responses too', async (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({ ...own(), clock, nodes: ['a', 'b'], algorithm: leastCpu() })
  const attached = attachBalancer(balancer.handle(), { clock, seed: 2 })
  balancer.report('a', { cpu: 50 })
  t.is(attached.observe('b', { [REPORT]: text({ cpu: 20 }) }), 'stored')
  t.is(balancer.select(), 'b')
  attached.close()
  t.is(attached.observe('b', { [REPORT]: text({ cpu: 20 }) }), 'unknown')
  await balancer.close()
})

test('reports come off real responses and trailers', async (t) => {
  const server = http.createServer((_, response) => {
    response.setHeader('Endpoint-Load-Metrics', text({ cpu: 10 }))
    response.setHeader('Trailer', BINARY)
    response.write('x')
    response.addTrailers({ [BINARY]: base64({ cpu: 20 }) })
    response.end()
  })
  t.teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const balancer = createBalancer({ nodes: ['a', 'b'], poll: false })
  const [response] = (await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response')) as [
    http.IncomingMessage,
  ]
  t.is(balancer.observe('a', response.headers), 'stored')
  t.is(balancer.snapshot()[0]?.cpu, 10)
  t.is(balancer.observe('b', response.rawHeaders), 'stored')
  response.resume()
  await once(response, 'end')
  t.is(balancer.observe('a', response.trailers), 'stored')
  t.is(balancer.snapshot()[0]?.cpu, 20)
  const fetched = await fetch(`http://127.0.0.1:${port}/`)
  t.is(balancer.observe('a', fetched.headers), 'stored')
  t.is(balancer.snapshot()[0]?.cpu, 10)
  t.throws(() => balancer.observe('a', fetched.headers, { stripHeader: true }), { instanceOf: OptionError })
  await fetched.text()
  await balancer.close()
})

test('whatever responses carry, nothing is thrown, and what is known stays in its range', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a'] })
  const pair = fc
    .tuple(
      fc.constantFrom('cpu_utilization', 'rps_fractional', 'age_ms', 'named_metrics.idlest_state', 'x'),
      fc.oneof(fc.double(), fc.string(), fc.constantFrom('1e999', 'NaN', '-0', '0x10')),
    )
    .map(([name, value]) => `${name}=${value}`)
  const value = fc.oneof(
    fc.array(pair, { maxLength: 5 }).map((pairs) => `TEXT ${pairs.join(',')}`),
    fc.json().map((json) => `JSON ${json}`),
    fc.base64String().map((digits) => `BIN ${digits}`),
    fc.string(),
    fc.uint8Array().map((some) => Buffer.from(some)),
    fc.anything(),
  )
  const source = fc.oneof(
    fc.record({ [REPORT]: value, [BINARY]: value }, { requiredKeys: [] }),
    fc.array(fc.oneof(fc.constantFrom(REPORT, BINARY), value), { maxLength: 7 }),
    fc.dictionary(fc.constantFrom(REPORT, BINARY), value).map((entries) => new Map(Object.entries(entries))),
  )
  fc.assert(
    fc.property(source, fc.boolean(), (source, stripHeader) => {
      balancer.observe('a', source as ReportSource, { stripHeader })
      const [node] = balancer.snapshot()
      for (const number of Object.values(node?.report ?? {})) t.true(number >= 0 && Number.isFinite(number))
      t.true((node?.cpu ?? 0) <= 100)
    }),
    { numRuns: 2_000 },
  )
  const { warned, unknownFields: _, ...counts } = balancer.stats().inBand
  t.is(
    Object.values(counts).reduce((sum, count) => sum + count),
    2_000,
  )
  t.true(warned <= 2)
})
