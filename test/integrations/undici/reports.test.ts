import test from 'ava'
import { get, node, over } from './servers.js'

const REPORT = 'JSON {"cpu_utilization": 0.25}'

test("a response's report is read, whatever the response", async (t) => {
  const cpus = [0.1, 0.2]
  const nodes = await Promise.all(
    [200, 503].map((status, i) =>
      node(t, (_request, response) => {
        response.writeHead(status, { 'Endpoint-Load-Metrics': `JSON {"cpu_utilization": ${cpus[i]}}` })
        response.end()
      }),
    ),
  )
  const { dispatcher, balancer } = over(t, nodes)
  for (let i = 0; i < 2; i++) await (await dispatcher.request(get)).body.dump()
  t.deepEqual(
    balancer.snapshot().map(({ cpu }) => cpu),
    [10, 20],
  )
  // The one that was retried told its own too.
  t.is(dispatcher.stats.retries, 1)
})

test('a report in the trailers is read where there is none in the headers', async (t) => {
  const streaming = await node(t, (_request, response) => {
    response.writeHead(200, { trailer: 'endpoint-load-metrics' })
    response.write('body')
    response.addTrailers({ 'endpoint-load-metrics': REPORT })
    response.end()
  })
  const { dispatcher, balancer } = over(t, [streaming])
  await (await dispatcher.request(get)).body.dump()
  t.is(balancer.snapshot()[0]?.cpu, 25)
})

test('the header is passed on; with stripHeader it is not, whichever handler or fetch asks', async (t) => {
  const telling = await node(t, (_request, response) => {
    response.writeHead(200, { 'endpoint-load-metrics': REPORT, 'x-other': 'kept' })
    response.end()
  })
  const usual = over(t, [telling])
  const { headers } = await usual.dispatcher.request(get)
  t.is(headers['endpoint-load-metrics'], REPORT)
  const { balancer, dispatcher } = over(t, [telling], { stripHeader: true })
  const seen = await dispatcher.request(get)
  t.deepEqual([seen.headers['endpoint-load-metrics'], seen.headers['x-other']], [undefined, 'kept'])
  const response = await fetch('http://service.local/', { dispatcher } as RequestInit)
  t.deepEqual(
    [response.headers.get('endpoint-load-metrics'), response.headers.get('x-other')],
    [null, 'kept'],
  )
  await new Promise<void>((resolve, reject) => {
    dispatcher.dispatch(get, {
      onRequestStart: () => {},
      onResponseStart: (controller, _status, byName) => {
        t.deepEqual([byName['endpoint-load-metrics'], byName['x-other']], [undefined, 'kept'])
        t.false(String(controller.rawHeaders).includes('cpu_utilization'))
      },
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    })
  })
  t.is(balancer.stats().inBand.stored + balancer.stats().inBand.older, 3)
})
