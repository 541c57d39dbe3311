// By a resolver that answers as the test says, in virtual time.
import test from 'ava'
import {
  createBalancer,
  type DnsDiscoveryOptions,
  dnsDiscovery,
  OptionError,
  type RecordType,
  random,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { countPicks, follow } from '../support/shares.js'
import { warningsOf } from '../support/warnings.js'

type Records = readonly (
  | string
  | { address: string; ttl?: number }
  | { name: string; port: number; priority: number; weight: number; ttl?: number }
)[]

/** Records by type and name, an error's code, or nothing: no answer at all. */
type Zone = Record<string, Records | string | undefined>

function setUp(zone: Zone, options: Partial<DnsDiscoveryOptions> = {}) {
  const clock = new VirtualClock()
  const asked: [number, string][] = []
  const resolver = async (name: string, type: RecordType, signal: AbortSignal): Promise<Records> => {
    asked.push([clock.now(), `${type} ${name}`])
    const answer = zone[`${type} ${name}`]
    if (typeof answer === 'string') throw Object.assign(new Error(`query${type} ${answer}`), { code: answer })
    if (answer !== undefined) return answer
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  const discovery = dnsDiscovery({ hostname: 'api', port: 80, resolver, clock, ...options })
  const balancer = createBalancer({
    nodes: discovery,
    clock,
    poll: false,
    algorithm: random(),
    coalesce: 0,
    seed: 1,
  })
  const ids = () => balancer.nodes.map(({ id }) => id)
  return { clock, zone, asked, times: () => asked.map(([time]) => time), discovery, balancer, ids }
}

const service = (name: string, priority: number, weight: number, port = 80, ttl?: number) => ({
  name,
  port,
  priority,
  weight,
  ...(ttl === undefined ? {} : { ttl }),
})

test('addresses are nodes, with the port, in an order that does not depend on the answer', async (t) => {
  const { clock, zone, balancer, ids } = setUp({ 'A api': ['10.0.0.2', '10.0.0.1', '10.0.0.1'] })
  await clock.advance(0)
  t.deepEqual(ids(), ['10.0.0.1:80', '10.0.0.2:80'])
  t.deepEqual(balancer.nodes[0], {
    id: '10.0.0.1:80',
    host: '10.0.0.1',
    port: 80,
    name: 'api',
    weight: 1,
    priority: 0,
  })
  const { nodes } = balancer
  zone['A api'] = ['10.0.0.1', '10.0.0.2']
  await clock.advance(31_000)
  t.is(balancer.nodes, nodes)
  t.like(balancer.stats().discovery, { looks: 2, changes: 1 })
})

test('names are looked up again when the least TTL is over, up to a tenth later', async (t) => {
  const { clock, times } = setUp({
    'A api': [
      { address: '10.0.0.1', ttl: 300 },
      { address: '10.0.0.2', ttl: 5 },
    ],
  })
  await clock.advance(100_000)
  const waits = times()
    .slice(1)
    .map((time, i) => time - (times()[i] as number))
  t.true(waits.length >= 18)
  t.true(waits.every((wait) => wait >= 5_000 && wait <= 5_500))
})

test('a TTL of 0 is a lookup each minInterval, and a long or unknown one a lookup each interval', async (t) => {
  for (const [ttl, least, most] of [
    [0, 2_000, 2_000],
    [86_400, 9_000, 10_000],
    [undefined, 9_000, 10_000],
  ] as const) {
    const record = ttl === undefined ? { address: '10.0.0.1' } : { address: '10.0.0.1', ttl }
    const { clock, times } = setUp({ 'A api': [record] }, { interval: 10_000, minInterval: 2_000 })
    await clock.advance(60_000)
    const waits = times()
      .slice(1)
      .map((time, i) => time - (times()[i] as number))
    t.true(waits.length > 4 && waits.every((wait) => wait >= least && wait <= most), `${ttl}: ${waits}`)
  }
})

for (const [what, answer, kind] of [
  ['an answer without records', [], 'empty'],
  ['a name without such records', 'ENODATA', 'empty'],
  ['a name that is not there', 'ENOTFOUND', 'notFound'],
  ['a server that fails', 'ESERVFAIL', 'failed'],
  ['a server that refuses', 'EREFUSED', 'failed'],
  ['a time-out', 'ETIMEOUT', 'timeout'],
  ['a server that never answers', undefined, 'timeout'],
  ['an address that is none', ['10.0.0.1', 'ten'], 'invalid'],
] as const) {
  test(`${what} keeps the members, is counted, and warned of once`, async (t) => {
    const name = `dns with ${what}`
    const warnings = warningsOf(t, 'IDLEST_DISCOVERY', name)
    const { clock, zone, balancer, ids } = setUp({ 'A api': ['10.0.0.1'] }, { name, family: 4 })
    await clock.advance(0)
    zone['A api'] = answer
    await clock.advance(200_000)
    t.deepEqual(ids(), ['10.0.0.1:80'])
    const { problems } = balancer.stats().discovery ?? {}
    t.true((problems?.[kind] ?? 0) > 3)
    t.is(warnings.length, 1)
    t.regex(warnings[0] ?? '', /the 1 known stay/)
    // Once it is well again, the next time is told too.
    zone['A api'] = ['10.0.0.2']
    await clock.advance(60_000)
    t.deepEqual(ids(), ['10.0.0.2:80'])
    zone['A api'] = answer
    await clock.advance(60_000)
    t.is(warnings.length, 2)
  })
}

test('after failures the waits grow, up to the interval', async (t) => {
  const { clock, times } = setUp({ 'A api': 'ESERVFAIL' }, { interval: 20_000 })
  await clock.advance(300_000)
  const waits = times()
    .slice(1)
    .map((time, i) => time - (times()[i] as number))
  let base = 1_000
  for (const wait of waits) {
    t.true(wait >= Math.max(1_000, 0.8 * base) && wait <= 1.2 * base, `${wait} for ${base}`)
    base = Math.min(20_000, base * 1.6)
  }
})

test('a node that fails has the name looked up at once, but not more often than each minInterval', async (t) => {
  const { clock, asked, discovery, balancer } = setUp({ 'A api': ['10.0.0.1', '10.0.0.2'] })
  await clock.advance(10_000)
  t.is(asked.length, 1)
  const exclude = balancer.nodes.slice(1)
  for (let i = 0; i < 5; i++) balancer.acquire({ exclude }).release({ ok: false })
  await clock.advance(0)
  t.is(asked.length, 2)
  for (let i = 0; i < 1_000; i++) discovery.refresh()
  await clock.advance(999)
  t.is(asked.length, 2)
  await clock.advance(1)
  t.is(asked.length, 3)
  t.is(balancer.stats().discovery?.asked, 1_001)
  await clock.advance(10_000)
  t.is(asked.length, 3)
})

test('IPv6 addresses are used where the name has none of IPv4, and by family alone', async (t) => {
  const zone: Zone = { 'A api': 'ENODATA', 'AAAA api': ['fd00::1'] }
  const both = setUp({ 'A api': ['10.0.0.1'], 'AAAA api': ['fd00::1'] })
  const six = setUp(zone)
  const alone = setUp({ 'A api': ['10.0.0.1'], 'AAAA api': ['fd00::1'] }, { family: 6 })
  const four = setUp(zone, { family: 4 })
  for (const { clock } of [both, six, alone, four]) await clock.advance(0)
  t.deepEqual(both.ids(), ['10.0.0.1:80'])
  t.deepEqual(six.ids(), ['[fd00::1]:80'])
  t.deepEqual(alone.ids(), ['[fd00::1]:80'])
  t.deepEqual(four.ids(), [])
  // A server that fails to tell of IPv4 has not said that there is none.
  zone['A api'] = 'ESERVFAIL'
  const failing = setUp(zone)
  await failing.clock.advance(0)
  t.deepEqual(failing.ids(), [])
})

test('an address is a node without any lookup', async (t) => {
  const { clock, asked, ids } = setUp({}, { hostname: '10.0.0.9' })
  await clock.advance(60_000)
  t.deepEqual(ids(), ['10.0.0.9:80'])
  t.is(asked.length, 0)
})

test('SRV records give ports, weights and priorities, and the addresses of their targets', async (t) => {
  const { clock, balancer } = setUp(
    {
      'SRV api': [service('one', 1, 30, 81), service('two', 1, 10, 82), service('three', 2, 1, 83)],
      'A one': ['10.0.0.1'],
      'A two': ['10.0.0.2'],
      'A three': ['10.0.0.3', '10.0.0.4'],
    },
    { port: undefined },
  )
  await clock.advance(0)
  t.deepEqual(
    balancer.nodes.map(({ id, name, weight, priority }) => [id, name, weight, priority]),
    [
      ['10.0.0.1:81', 'one', 30, 1],
      ['10.0.0.2:82', 'two', 10, 1],
      ['10.0.0.3:83', 'three', 0.5, 2],
      ['10.0.0.4:83', 'three', 0.5, 2],
    ],
  )
  const counts = countPicks(4_000, () => balancer.select().name)
  t.true(follow([counts.get('one') ?? 0, counts.get('two') ?? 0, counts.get('three') ?? 0], [0.75, 0.25, 0]))
  for (const id of ['10.0.0.1:81', '10.0.0.2:82']) balancer.report({ id } as never, { state: 'drain' })
  t.is(balancer.select().name, 'three')
})

test('weights of 0 are all the same, or as small as RFC 2782 has them beside others', async (t) => {
  const targets = { 'A one': ['10.0.0.1'], 'A two': ['10.0.0.2'], 'A three': ['10.0.0.3'] }
  const zeros = [service('one', 0, 0), service('two', 0, 0)]
  const alike = setUp({ 'SRV api': zeros, ...targets }, { port: undefined })
  const beside = setUp({ 'SRV api': [...zeros, service('three', 0, 9)], ...targets }, { port: undefined })
  for (const { clock } of [alike, beside]) await clock.advance(0)
  t.deepEqual(
    alike.balancer.nodes.map(({ weight }) => weight),
    [1, 1],
  )
  t.deepEqual(
    beside.balancer.nodes.map(({ weight }) => weight),
    [0.5, 0.5, 9],
  )
})

test('a server that SRV records name twice gets what both say, at the lower priority', async (t) => {
  const zone: Zone = { 'SRV api': [service('one', 1, 2), service('uno', 1, 3), service('eins', 2, 9)] }
  for (const name of ['one', 'uno', 'eins']) zone[`A ${name}`] = ['10.0.0.1']
  const { clock, balancer } = setUp(zone, { port: undefined })
  await clock.advance(0)
  t.deepEqual(
    balancer.nodes.map(({ weight, priority }) => [weight, priority]),
    [[5, 1]],
  )
})

test('a target that can not be resolved keeps the addresses that it had, and the others are followed', async (t) => {
  const warnings = warningsOf(t, 'IDLEST_DISCOVERY', 'partial')
  const { clock, zone, balancer, ids } = setUp(
    { 'SRV api': [service('one', 0, 1), service('two', 0, 1)], 'A one': ['10.0.0.1'], 'A two': ['10.0.0.2'] },
    { port: undefined, name: 'partial' },
  )
  await clock.advance(0)
  zone['A one'] = 'ETIMEOUT'
  zone['A two'] = ['10.0.0.3']
  await clock.advance(100_000)
  t.deepEqual(ids(), ['10.0.0.1:80', '10.0.0.3:80'])
  t.true((balancer.stats().discovery?.problems.timeout ?? 0) >= 3)
  t.is(warnings.length, 1)
  zone['SRV api'] = [service('two', 0, 1)]
  await clock.advance(31_000)
  t.deepEqual(ids(), ['10.0.0.3:80'])
})

test('SRV records that say that there is no server keep the members', async (t) => {
  const { clock, zone, balancer, ids } = setUp(
    { 'SRV api': [service('one', 0, 1)], 'A one': ['10.0.0.1'] },
    { port: undefined },
  )
  await clock.advance(0)
  zone['SRV api'] = [service('.', 0, 0)]
  await clock.advance(31_000)
  t.deepEqual(ids(), ['10.0.0.1:80'])
  t.true((balancer.stats().discovery?.problems.empty ?? 0) >= 1)
})

test('SRV records are asked for again when the TTL of a target is over, or their own where a resolver tells it', async (t) => {
  for (const zone of [
    { 'SRV api': [service('one', 0, 1)], 'A one': [{ address: '10.0.0.1', ttl: 5 }] },
    { 'SRV api': [service('one', 0, 1, 80, 5)], 'A one': [{ address: '10.0.0.1', ttl: 300 }] },
  ]) {
    const { clock, asked } = setUp(zone, { port: undefined })
    await clock.advance(100_000)
    const times = asked.flatMap(([time, what]) => (what === 'SRV api' ? [time] : []))
    t.true(times.length >= 18 && times.length <= 21)
  }
})

test('a thousand targets are resolved a few at a time', async (t) => {
  const clock = new VirtualClock()
  let under = 0
  let most = 0
  const resolver = async (name: string, type: RecordType) => {
    if (type === 'SRV') return Array.from({ length: 1_000 }, (_, i) => service(`t${i}`, 0, 1, 1 + i))
    under++
    most = Math.max(most, under)
    await new Promise(setImmediate)
    under--
    return [`10.0.0.${1 + (Number(name.slice(1)) % 200)}`]
  }
  const discovery = dnsDiscovery({ hostname: 'api', resolver, clock })
  t.is((await discovery.ready()).length, 1_000)
  t.is(most, 16)
})

test('nobody is asked while nobody follows, and whoever follows again waits out the TTL', async (t) => {
  const { clock, asked, discovery, balancer } = setUp({ 'A api': [{ address: '10.0.0.1', ttl: 20 }] })
  t.is(discovery.name, 'dns:api')
  await clock.advance(1_000)
  await balancer.close()
  t.is(clock.pending, 0)
  discovery.refresh()
  await clock.advance(10_000)
  t.is(asked.length, 1)
  const again = createBalancer({ nodes: discovery, clock, poll: false, coalesce: 0 })
  t.is(again.nodes.length, 1)
  await clock.advance(5_000)
  t.is(asked.length, 1)
  await clock.advance(10_000)
  t.is(asked.length, 2)
  await again.close()
  await clock.advance(100_000)
  const late = createBalancer({ nodes: discovery, clock, poll: false, coalesce: 0 })
  await clock.advance(0)
  t.is(asked.length, 3)
  await discovery.close()
  t.is(late.nodes.length, 1)
  t.is(clock.pending, 0)
})

test('a lookup that is under way when nobody follows any more changes nothing', async (t) => {
  const { clock, asked, discovery, balancer } = setUp({ 'A api': undefined })
  await clock.advance(0)
  await balancer.close()
  await clock.advance(0)
  t.is(clock.pending, 0)
  await clock.advance(10_000)
  t.is(asked.length, 1)
  t.is(discovery.stats().looks, 0)
})

test('options that are wrong are refused', (t) => {
  for (const wrong of [
    {},
    { hostname: '' },
    { hostname: 'api', port: 0 },
    { hostname: 'api', port: 70_000 },
    { hostname: 'api', family: 5 },
    { hostname: 'api', interval: 0 },
    { hostname: 'api', interval: 1_000, minInterval: 2_000 },
    { hostname: 'api', resolver: {} },
    { hostname: 'api:80', port: 80 },
    { hostname: 'http://api', port: 80 },
    { hostname: 'a b', port: 80 },
    { hostname: 'a'.repeat(255), port: 80 },
    { hostname: 'api', ttl: 5 },
  ]) {
    t.throws(() => dnsDiscovery(wrong as never), { instanceOf: OptionError }, JSON.stringify(wrong))
  }
  t.notThrows(() => dnsDiscovery({ hostname: 'api', port: 80, interval: 500 }))
})

for (const [wrong, right] of [
  ['host', 'hostname'],
  ['hostName', 'hostname'],
  ['ports', 'port'],
] as const) {
  test(`the option ${wrong} is refused, and ${right} suggested`, (t) => {
    t.throws(() => dnsDiscovery({ [wrong]: 'api', port: 80 } as never), {
      instanceOf: OptionError,
      message: new RegExp(`dnsDiscovery\\.${wrong} is unknown: .*the nearest is "${right}"$`),
    })
  })
}
