import http from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { type FeedLost, isView, type LiveView, OptionError, openFeed } from '../../dist/index.js'
import { served } from './support.js'

/** What a feed gives next. */
async function next(feed: AsyncIterator<LiveView | FeedLost>): Promise<LiveView | FeedLost> {
  const { value, done } = await feed.next()
  if (done) throw new Error('the feed has ended')
  return value
}

async function nextView(feed: AsyncIterator<LiveView | FeedLost>): Promise<LiveView> {
  for (;;) {
    const one = await next(feed)
    if (isView(one)) return one
  }
}

test('a feed gives the view at once, and another after each interval', async (t) => {
  const { balancer, clock, server } = await served(t)
  const feed = openFeed(server.url)[Symbol.asyncIterator]()
  const first = await nextView(feed)
  t.is(first.nodes.length, 3)
  t.is(first.picks, 0)
  for (let i = 0; i < 5; i++) balancer.select()
  await clock.advance(1_000)
  const second = await nextView(feed)
  t.is(second.time - first.time, 1_000)
  t.is(second.picksPerSecond, 5)
  await feed.return?.()
})

test('who is slow gets to the newest view, by ever later ones', async (t) => {
  const { balancer, clock, server } = await served(t)
  const feed = openFeed(server.url)[Symbol.asyncIterator]()
  await nextView(feed)
  for (let i = 0; i < 3; i++) {
    balancer.select()
    await clock.advance(1_000)
  }
  const seen: number[] = []
  while (seen.at(-1) !== 3) {
    const coming = nextView(feed)
    await clock.advance(1_000)
    seen.push((await coming).picks)
  }
  t.deepEqual(seen, [...seen].sort())
  await feed.return?.()
})

test('a feed ends with its signal, and lets go of its connection', async (t) => {
  const { clock, server } = await served(t)
  const controller = new AbortController()
  const feed = openFeed(new URL(server.url), { signal: controller.signal })[Symbol.asyncIterator]()
  await nextView(feed)
  const last = feed.next()
  controller.abort()
  t.true((await last).done)
  while (clock.pending > 0) await new Promise(setImmediate)
  t.is(server.counters.streams, 1)
  const none = openFeed(server.url, { signal: controller.signal })[Symbol.asyncIterator]()
  t.true((await none.next()).done)
})

test('with a wrong token a feed says so, and with the right one it looks', async (t) => {
  const { server } = await served(t, { token: 'open-sesame' })
  const wrong = openFeed(server.url, { token: 'sesame' })[Symbol.asyncIterator]()
  const lost = await next(wrong)
  t.like(lost, { kind: 'lost', status: 401 })
  t.regex((lost as FeedLost).error.message, /token/)
  await wrong.return?.()
  const right = openFeed(server.url, { token: 'open-sesame' })[Symbol.asyncIterator]()
  t.is((await nextView(right)).balancer, 'mine')
  await right.return?.()
})

test('a lost connection is told, and found again', async (t) => {
  const { balancer, server } = await served(t)
  const { port } = server
  const feed = openFeed(server.url)[Symbol.asyncIterator]()
  await nextView(feed)
  await server.close()
  const lost = await next(feed)
  t.false(isView(lost))
  const again = await balancer.serve({ port })
  t.is((await nextView(feed)).balancer, 'mine')
  t.is(again.counters.streams, 1)
  await feed.return?.()
})

test('what is no balancer is told', async (t) => {
  const server = http.createServer((_, response) => response.end('hello'))
  server.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const feed = openFeed(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)[Symbol.asyncIterator]()
  t.false(isView(await next(feed)))
  await feed.return?.()
})

test('what is no URL, and options that are none, are refused', (t) => {
  for (const url of ['', 'localhost:9090', 'ftp://x/', 7 as never]) {
    t.throws(() => openFeed(url), { instanceOf: OptionError, message: /url/ }, String(url))
  }
  t.throws(() => openFeed('http://x/', { token: 'a b' }), { instanceOf: OptionError })
  t.throws(() => openFeed('http://x/', { tokn: 'a' } as never), { instanceOf: OptionError })
})
