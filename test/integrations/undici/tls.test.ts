import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { pem } from '../../agent/support.js'
import { get, named, over } from './servers.js'

/** A node that speaks HTTP/2, and HTTP/1.1 to those that do not. */
async function secure(t: ExecutionContext): Promise<{ id: string; versions: string[] }> {
  const versions: string[] = []
  const server = createSecureServer({ key: pem('server-key'), cert: pem('server'), allowHTTP1: true })
  server.on('request', (request, response) => {
    versions.push(request.httpVersion)
    if (request.url === '/never') return
    if (request.url === '/busy') response.statusCode = 503
    response.setHeader('endpoint-load-metrics', 'TEXT cpu_utilization=0.5')
    response.end('secure')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { id: `127.0.0.1:${(server.address() as AddressInfo).port}`, versions }
}

const origins = (id: string) => `https://${id}`
const connect = { ca: pem('ca') }

for (const [allowH2, version] of [
  [false, '1.1'],
  [true, '2.0'],
] as const) {
  test(`nodes are reached by HTTPS, HTTP/${version}`, async (t) => {
    const node = await secure(t)
    const pool = { connect, allowH2 }
    const { balancer, dispatcher, inFlight, outcomes } = over(t, [node], { origins, pool })
    const answers = await Promise.all([get, get, get].map((request) => dispatcher.request(request)))
    for (const { body } of answers) t.is(await body.text(), 'secure')
    t.deepEqual(node.versions, [version, version, version])
    t.deepEqual(inFlight(), [0])
    t.deepEqual(outcomes(), [[3, 0]])
    t.is(balancer.snapshot()[0]?.cpu, 50)
  })

  test(`a request by HTTP/${version} that is given up is in flight no more, and one that fails is retried`, async (t) => {
    const node = await secure(t)
    const pool = { connect, allowH2 }
    const { dispatcher, inFlight, outcomes } = over(t, [node], { origins, pool })
    const controller = new AbortController()
    const answer = dispatcher.request({ path: '/never', method: 'GET', signal: controller.signal })
    while (node.versions.length === 0) await new Promise(setImmediate)
    controller.abort()
    await t.throwsAsync(answer, { any: true, name: 'AbortError' })
    t.deepEqual(inFlight(), [0])
    t.deepEqual(outcomes(), [[0, 0]])
    const plain = await named(t, 'plain')
    const two = over(t, [node, plain], {
      origins: (id) => (id === plain.id ? `http://${id}` : `https://${id}`),
      pool,
    })
    const { body } = await two.dispatcher.request({ path: '/busy', method: 'GET' })
    t.is(await body.text(), 'plain')
    t.deepEqual(two.inFlight(), [0, 0])
  })
}
