import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { readSnapshot, SnapshotError } from '../../dist/cli/size/snapshot.js'
import { createBalancer } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { run } from './command.js'

/** Answers as a live balancer does. Returns its URL. */
async function balancer(t: ExecutionContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

function serving(t: ExecutionContext, view: unknown): Promise<string> {
  return balancer(t, (request, response) => {
    response.statusCode = request.url === '/snapshot' ? 200 : 404
    response.end(JSON.stringify(view))
  })
}

const node = { id: 'a', state: 'up', age: 500, report: { cpu: 60, qps: 150 } }
const view = { window: 1_000, picksPerSecond: 290, poll: { interval: 1_500 }, nodes: [node, node, node] }

test('--from fills in what is measured, and says which comes from where', async (t) => {
  const url = await serving(t, view)
  const { code, stdout, stderr } = await run('size', '--from', url, '--target-load', '0.7')
  t.is(stderr, '')
  t.is(code, 0)
  for (const line of [
    /^measured at http:\/\/127\.0\.0\.1:\d+\/$/m,
    /^ servers that take work +3 +of 3, up and not ejected$/m,
    /^ traffic +450 requests\/s +qps that 3 servers report$/m,
    /^ mean load +60 % +utilization that 3 servers report$/m,
    /^ capacity of a server +250 requests\/s +qps \/ utilization that 3 servers report$/m,
    /^ report interval +1\.5 s +the balancer's poll interval$/m,
    /^ users a day +1,000,000 +users +default$/m,
    /^ traffic now +0\.3888 .*measured$/m,
    /^ capacity of a server +250 +requests\/s +measured$/m,
    /^ target load .*flag$/m,
    /^ report interval +1\.5 +s +measured$/m,
    /^ servers that run +3 +servers +measured$/m,
    /^ {3}→ the traffic of now takes 3$/m,
    /^4\. load on each server: 60 %\n.* = 450 \/ \(3 × 250\)$/m,
  ]) {
    t.regex(stdout, line)
  }
})

test('a balancer that runs is measured by its reports', async (t) => {
  const clock = new VirtualClock()
  const live = createBalancer({ nodes: ['a', 'b', 'c'], poll: false, clock })
  t.teardown(() => live.close())
  live.report('a', { cpu: 50, qps: 120 })
  live.report('b', { cpu: 70, application: 30, qps: 60 })
  live.report('c', { cpu: 90, qps: 1_000, state: 'drain' })
  // Older than what the algorithm goes by.
  await clock.advance(25_000)
  const { url } = await live.serve({ token: 'secret' })
  const { code, stdout, stderr } = await run('size', '--from', url, '--token', 'secret')
  t.is(stderr, '')
  t.is(code, 0)
  for (const line of [
    /^ servers that take work +2 +of 3, up and not ejected$/m,
    /^ traffic +180 requests\/s +qps that 2 servers report$/m,
    /^ mean load +40 %/m,
    /^ capacity of a server +225 requests\/s/m,
    /^ report interval +- +not told$/m,
    /^ servers that run +2 .*measured$/m,
  ]) {
    t.regex(stdout, line)
  }
})

test('a flag goes before what is measured; JSON has both', async (t) => {
  const url = await serving(t, view)
  const { stdout } = await run('size', '--from', url, '--server-capacity', '300', '--servers', '5', '--json')
  const { inputs, sources, measured, traffic, load } = JSON.parse(stdout)
  t.is(inputs.serverCapacity, 300)
  t.is(inputs.servers, 5)
  t.is(sources.serverCapacity, 'flag')
  t.is(sources.trafficFactor, 'measured')
  t.true(Math.abs(measured.capacity.value - 250) < 1e-9)
  t.deepEqual(measured.unused, [])
  t.true(Math.abs(traffic - 450) < 1e-9)
  t.true(Math.abs(load - 0.3) < 1e-12)
})

test('what is measured and can not be used is told, and the rest used', async (t) => {
  const url = await serving(t, { ...view, poll: { interval: 900_000 } })
  const { code, stdout } = await run('size', '--from', url, '--daily-active-users', '0')
  t.is(code, 0)
  t.regex(stdout, /^ not used: reportInterval of 900: expected a number of seconds/m)
  t.regex(stdout, /^ not used: traffic: the planned peak is 0/m)
  t.regex(stdout, /^ report interval +2 +s +default$/m)
  t.regex(stdout, /^ capacity of a server +250 +requests\/s +measured$/m)
})

test('a balancer that knows nothing yet: the defaults', async (t) => {
  const url = await serving(t, { nodes: [] })
  const { code, stdout } = await run('size', '--from', url)
  t.is(code, 0)
  t.regex(stdout, /^ traffic +- +not told$/m)
  t.notRegex(stdout, /measured$/m)
  t.regex(stdout, /^3\. servers: 10$/m)
})

test('the token is sent, and asked for where there is none', async (t) => {
  const url = await balancer(t, ({ headers }, response) => {
    if (headers.authorization !== 'Bearer secret') response.statusCode = 401
    response.end(JSON.stringify(view))
  })
  t.is((await run('size', '--from', url, '--token', 'secret')).code, 0)
  const { code, stderr } = await run('size', '--from', url)
  t.is(code, 1)
  t.regex(stderr, /^error: can't read http:.*\/snapshot: it asks for a token: --token, or IDLEST_TOKEN$/m)
  const odd = await run('size', '--from', url, '--token', 'a\nb')
  t.is(odd.code, 2)
  t.notRegex(odd.stderr, /a\nb/)
})

const answers: readonly (readonly [string, RequestListener, RegExp])[] = [
  ['404', (_, response) => void response.writeHead(404).end(), /status 404/],
  [
    'no JSON',
    (_, response) => void response.end('\x1b[2Jno'),
    /snapshot: that is no snapshot of a balancer$/m,
  ],
  ['another document', (_, response) => void response.end('{}'), /no snapshot of a balancer/],
  ['a redirect', (_, response) => void response.writeHead(302, { location: '/' }).end(), /redirect/],
  ['nothing', ({ socket }) => void socket.destroy(), /socket|closed|ECONNRESET/],
]

for (const [what, answer, says] of answers) {
  test(`where ${what} is answered, it exits with 1 and says so`, async (t) => {
    const { code, stdout, stderr } = await run('size', '--from', await balancer(t, answer))
    t.is(code, 1)
    t.is(stdout, '')
    t.regex(stderr, /^error: can't read http:\/\/127\.0\.0\.1:\d+\/snapshot: /)
    t.regex(stderr, says)
    t.false(stderr.includes('\x1b'))
  })
}

for (const text of ['foo', '127.0.0.1:9090', 'ftp://127.0.0.1/', 'http://user:word@127.0.0.1/']) {
  test(`--from ${text}: exits with 2 and says what is expected`, async (t) => {
    const { code, stderr } = await run('size', '--from', text)
    t.is(code, 2)
    t.regex(stderr, /option --from is .*: expected the URL of a live balancer/)
  })
}

test('a wrong flag is told without asking the balancer', async (t) => {
  let asked = 0
  const url = await balancer(t, (_, response) => {
    asked++
    response.end('{}')
  })
  const { code } = await run('size', '--from', url, '--target-load', '1')
  t.is(code, 2)
  t.is(asked, 0)
})

test('a balancer that is served below a path', async (t) => {
  const url = await balancer(t, (request, response) => {
    response.statusCode = request.url === '/lb/snapshot' ? 200 : 404
    response.end(JSON.stringify(view))
  })
  for (const below of ['lb', 'lb/']) {
    t.is((await readSnapshot(url + below, undefined)).nodes.length, 3)
  }
})

test('a balancer that never answers is not waited for without end', async (t) => {
  const url = await balancer(t, () => {})
  await t.throwsAsync(readSnapshot(url, undefined, { patience: 20 }), {
    instanceOf: SnapshotError,
    message: /no answer in 20 ms$/,
  })
})

test('an answer without an end is not read to its end', async (t) => {
  const url = await balancer(t, (_, response) => {
    const write = () => {
      while (!response.destroyed && response.write(' '.repeat(4_096)));
    }
    response.on('drain', write)
    write()
  })
  await t.throwsAsync(readSnapshot(url, undefined, { most: 100_000 }), {
    instanceOf: SnapshotError,
    message: /a body of more than 100000 bytes$/,
  })
})
