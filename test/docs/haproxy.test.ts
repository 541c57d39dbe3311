import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { createAgent } from '../../dist/index.js'
import { eventually, Haproxy, hasHaproxy } from '../agent/haproxy.js'
import { blocks } from './blocks.js'

const [whole] = blocks.filter(({ language, text }) => language === 'haproxy' && /^defaults$/m.test(text))

test('the guide has one whole configuration of HAProxy, whose servers have agents', (t) => {
  t.is(whole?.file, '.github/docs/with-haproxy.md')
  t.regex(whole?.text ?? '', /default-server weight 100 check .*agent-check agent-port \d+/)
})

if (hasHaproxy) {
  test('with it, weights in HAProxy follow what agents find, and a server that drains gets nothing', async (t) => {
    const loads = new Map([
      ['one', 0],
      ['two', 80],
    ])
    const backends = await Promise.all(
      [...loads.keys()].map(async (name) => {
        const server = createServer((_request, response) => response.end(name)).listen(0, '127.0.0.1')
        await new Promise((resolve) => server.once('listening', resolve))
        t.teardown(() => server.close())
        const agent = await createAgent({
          http: false,
          agentCheck: {},
          sampler: () => loads.get(name),
          sampleInterval: 20,
        })
        t.teardown(() => agent.close())
        return { name, agent, port: (server.address() as AddressInfo).port }
      }),
    )
    const haproxy = await Haproxy.startWith(t, (path) =>
      backends.reduce(
        (text, { name, agent, port }) =>
          text.replace(
            new RegExp(`(server ${name} )\\S+ agent-addr \\S+`),
            `$1127.0.0.1:${port} agent-addr 127.0.0.1 agent-port ${agent.agentCheck?.port}`,
          ),
        (whole?.text ?? '')
          .replace('/run/haproxy.sock', path('stats'))
          .replace('bind :8000', `bind ${path('front')}`)
          .replace(/\breports$/gm, 'back')
          .replace('agent-inter 1s', 'agent-inter 100ms'),
      ),
    )
    await eventually(
      () => haproxy.weight('two'),
      (weight) => weight === 20,
    )
    t.is(await haproxy.weight('one'), 100)
    t.is(await haproxy.status('one'), 'UP')
    t.is((await haproxy.get()).status, 200)

    backends[0]?.agent.drain()
    await eventually(
      () => haproxy.status('one'),
      (status) => status.startsWith('DRAIN'),
    )
    const bodies = await Promise.all(Array.from({ length: 10 }, async () => (await haproxy.get()).body))
    t.deepEqual([...new Set(bodies)], ['two'])
  })
}
