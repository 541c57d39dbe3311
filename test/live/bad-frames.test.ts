import http from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type FeedLost, isView, openFeed } from '../../dist/index.js'
import { FrameReader } from '../../dist/live/frames.js'
import { liveHead } from './support.js'

/** A frame as text; of two nodes unless told otherwise. */
function frame(some: object = {}): string {
  const columns = { id: { each: ['a', 'b'] } }
  return JSON.stringify({ version: 1, isWhole: true, head: liveHead, count: 2, columns, ...some })
}

const columns = (some: object) => frame({ columns: { id: { each: ['a', 'b'] }, ...some } })
const head = (some: object) => frame({ head: { ...liveHead, ...some } })

const bad: Readonly<Record<string, string>> = {
  nothing: 'null',
  text: '"x"',
  'no JSON': 'data\x1b[31m',
  'no version': '{}',
  'no head': frame({ head: undefined }),
  'no rules': head({ rules: null }),
  'no counters': head({ stats: {} }),
  'a number as text': head({ picksPerSecond: '\x1b[2J' }),
  'no interval': head({ interval: -1 }),
  'an interval that no timer can wait for': head({ interval: 1e300 }),
  'more nodes than ids': frame({ count: 2e9 }),
  'one id for all nodes': frame({ count: 2e9, columns: { id: { all: 'a' } } }),
  'no ids': frame({ columns: {} }),
  'fewer nodes than none': frame({ count: -1 }),
  'ids that are no text': frame({ columns: { id: { each: [1, {}] } } }),
  'a column that is none': columns({ cpu: 5 }),
  'a column too long': columns({ cpu: { each: [1, 2, 3] } }),
  'a value for a node that is not there': columns({ cpu: { at: [2], of: [5] } }),
  'text for a number': columns({ cpu: { each: ['high', 1] } }),
  'an unknown state': columns({ state: { all: '\x1b[31mfine' } }),
  'an ejection that is none': columns({ ejected: { all: 5 } }),
  'failed polls that are none': columns({ poll: { all: 'x' } }),
}

for (const [what, text] of Object.entries(bad)) {
  test(`a frame is refused that has ${what}`, (t) => {
    const error = t.throws(() => new FrameReader().read(text))
    t.regex(error.message, /^what answers there is no balancer/)
    t.false(/\p{C}/u.test(error.message))
  })
}

test('what a frame has beside that is left alone', (t) => {
  const view = new FrameReader().read(columns({ later: { all: {} } }))
  t.deepEqual(
    view.nodes.map(({ id }) => id),
    ['a', 'b'],
  )
})

/** A server that streams this to each who comes; tells how many came. */
async function streaming(
  t: ExecutionContext,
  text: string | undefined,
): Promise<{ url: string; came: () => number }> {
  let came = 0
  const server = http.createServer((_, response) => {
    came++
    if (text === undefined) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, came: () => came }
}

async function firstOf(url: string): Promise<unknown> {
  for await (const one of openFeed(url)) return one
  return undefined
}

test('whoever sends something else than frames is told of, and followed no further', async (t) => {
  const { url } = await streaming(t, `data: ${frame({ count: 2e9 })}\n\n`)
  const lost = (await firstOf(url)) as FeedLost
  t.false(isView(lost))
  t.regex(lost.error.message, /no balancer/)
})

test('a balancer does not get to say how often it is asked again', async (t) => {
  const { url, came } = await streaming(t, 'retry: 0\n\n')
  await firstOf(url)
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  t.is(came(), 1)
})

test('an event that never ends is no view', async (t) => {
  t.timeout(60_000)
  const piece = Buffer.alloc(2 ** 20, 'x')
  const server = http.createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: ')
    const go = () => {
      while (response.write(piece));
    }
    response.on('drain', go)
    go()
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const lost = (await firstOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)) as FeedLost
  t.regex(lost.error.message, /longer than any view/)
})
