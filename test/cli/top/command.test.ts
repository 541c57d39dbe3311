import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createBalancer, leastCpu } from '../../../dist/index.js'
import type { LiveView } from '../../../dist/live/live-view.js'
import { Cli, run } from '../command.js'

async function served(t: ExecutionContext, token?: string): Promise<string> {
  const balancer = createBalancer({
    name: 'checkout',
    nodes: ['a', 'b', 'c'],
    algorithm: leastCpu({ threshold: 5, ttl: 600_000 }),
    poll: false,
  })
  t.teardown(() => balancer.close())
  balancer.report('a', { cpu: 10 })
  balancer.report('b', { cpu: 80 })
  balancer.drain('c')
  const { url } = await balancer.serve({ interval: 100, ...(token === undefined ? {} : { token }) })
  return url
}

test('--once prints one table and ends', async (t) => {
  const { code, stdout, stderr } = await run('top', await served(t), '--once', '--sort', 'node')
  t.is(code, 0, stderr)
  t.regex(stdout, /^checkout {2}leastCpu, /)
  t.regex(
    stdout,
    /│ a +│ up +│ +10 │[\s\S]*│ b +│ up +│ +80 │.*outside the band[\s\S]*│ c +│ drain +│.*drains/,
  )
})

test('--once --json prints one document', async (t) => {
  const { code, stdout } = await run('top', await served(t), '--once', '--json')
  t.is(code, 0)
  const view = JSON.parse(stdout) as LiveView
  t.is(view.balancer, 'checkout')
  t.deepEqual(
    view.nodes.map(({ id, reason }) => [id, reason]),
    [
      ['a', undefined],
      ['b', 'band'],
      ['c', 'ordered'],
    ],
  )
})

test('the nodes of the table are those of the filter', async (t) => {
  const { stdout } = await run('top', await served(t), '--once', '--filter', 'drain')
  t.regex(stdout, /│ c +│/)
  t.notRegex(stdout, /│ a +│/)
})

test('without a connection it says to where, why, and that it goes on trying', async (t) => {
  const top = new Cli('top', 'http://127.0.0.1:1')
  t.teardown(() => top.process.kill())
  while (!top.stderr.includes('\n')) await once(top.process.stderr ?? top.process, 'data')
  t.is(top.stderr.split('\n', 1)[0], 'no connection to http://127.0.0.1:1: bad port; trying again')
  top.process.kill('SIGTERM')
  t.is(await top.ended(), 143)
})

test('without a terminal there is a line for each view', async (t) => {
  const top = new Cli('top', await served(t))
  t.regex(
    await top.line(/picks\/s/),
    /Z 0 picks\/s, 0 empty; 3 nodes: 2 up, 1 drain; 2 not picked now; CPU 10 \//,
  )
  await top.line(/picks\/s/)
  top.process.kill('SIGTERM')
  t.is(await top.ended(), 143)
  t.is(top.stderr, '')
})

test('--json prints a document a line', async (t) => {
  const top = new Cli('top', await served(t), '--json')
  t.is((JSON.parse(await top.line(/^\{/)) as LiveView).nodes.length, 3)
  top.process.kill('SIGINT')
  t.is(await top.ended(), 130)
})

test('an address alone is enough of a URL', async (t) => {
  const { code } = await run('top', new URL(await served(t)).host, '--once')
  t.is(code, 0)
})

test('a token is needed where the balancer wants one, and is taken from the environment too', async (t) => {
  const url = await served(t, 'secret')
  const without = await run('top', url, '--once')
  t.is(without.code, 1)
  t.is(without.stdout, '')
  t.regex(without.stderr, /^error: .*token/)
  t.is((await run('top', url, '--once', '--token', 'secret')).code, 0)
})

test('where nobody listens, --once exits with 1 and says so', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const { code, stdout, stderr } = await run('top', `127.0.0.1:${port}`, '--once')
  t.is(code, 1)
  t.is(stdout, '')
  t.regex(stderr, /^error: .*ECONNREFUSED/)
})

test('what a stranger answers does not reach the terminal raw', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end('data: "\u001b[2J"\n\ndata: {"kind":"\u001b[2J"}\n\n')
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { code, stdout, stderr } = await run('top', `http://127.0.0.1:${port}`, '--once')
  t.is(code, 1, stdout)
  t.notRegex((stdout + stderr).replaceAll('\n', ''), /\p{C}/u)
})

for (const { args, says } of [
  { args: ['top'], says: /missing required argument 'url'/ },
  { args: ['top', 'ftp://host'], says: /Expected the URL of a balancer, such as http:\/\/127\.0\.0\.1:9090/ },
  { args: ['top', '127.0.0.1:1', '--sort', 'colour'], says: /Allowed choices are node, state, cpu/ },
]) {
  test(`idlest ${args.join(' ')}: exits with 2 and says what is wrong`, async (t) => {
    const { code, stdout, stderr } = await run(...args)
    t.is(code, 2)
    t.is(stdout, '')
    t.regex(stderr, says)
  })
}
