import test from 'ava'
import { request, fetch as undiciFetch } from 'undici/index.js'
import { get, named, over } from './servers.js'

type Connect = (error: Error, socket: null) => void

const url = 'http://service.local/'

const callers = {
  "undici's fetch": (dispatcher: never, signal: AbortSignal) => undiciFetch(url, { dispatcher, signal }),
  "Node's own fetch": (dispatcher: never, signal: AbortSignal) =>
    fetch(url, { dispatcher, signal } as RequestInit),
  "undici's request": (dispatcher: never, signal: AbortSignal) => request(url, { dispatcher, signal }),
}

for (const [name, call] of Object.entries(callers)) {
  for (const reason of ['TimeoutError', 'AbortError']) {
    test.serial(
      `${name}: a request that is given up with ${reason} while it connects is not retried`,
      async (t) => {
        const waiting: Connect[] = []
        let isAsked = () => {}
        const asked = new Promise<void>((resolve) => {
          isAsked = resolve
        })
        const connect = (_options: object, done: Connect) => {
          waiting.push(done)
          isAsked()
        }
        const good = await named(t, 'good')
        const { balancer, dispatcher, inFlight } = over(t, [{ id: '127.0.0.1:1' }, good], {
          pool: { connect: connect as never },
        })
        const controller = new AbortController()
        const failed = t.throwsAsync(call(dispatcher as never, controller.signal), { any: true })
        await asked
        t.deepEqual(inFlight(), [1, 0])
        // What AbortSignal.timeout() does.
        controller.abort(new DOMException('enough', reason))
        await failed
        t.deepEqual(inFlight(), [0, 0])
        for (const done of waiting) done(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), null)
        await new Promise(setImmediate)
        t.is(good.requests(), 0)
        t.is(dispatcher.stats.retries, 0)
        t.like(balancer.stats(), { leases: { acquired: 1, released: 1 }, retries: { retries: 0, denied: 0 } })
        t.is(dispatcher.stats.failures.connect, 0)
      },
    )
  }
}

test('a signal that is aborted before asks no node, and blames none', async (t) => {
  const good = await named(t, 'good')
  const { dispatcher, outcomes, inFlight } = over(t, [good])
  for (const reason of [new DOMException('enough', 'TimeoutError'), new Error('changed my mind')]) {
    await t.throwsAsync(dispatcher.request({ ...get, signal: AbortSignal.abort(reason) }), { any: true })
  }
  t.is(good.requests(), 0)
  t.deepEqual(outcomes(), [[0, 0]])
  t.deepEqual(inFlight(), [0])
})
