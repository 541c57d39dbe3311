import test from 'ava'
import { adaptive, type Balancer, createBalancer, type Outcome } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { eventsOf } from '../support/events.js'
import { ejected, leaseOn, setUp } from './ejecting.js'

const refusal = () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  return new TypeError('fetch failed', { cause })
}

function refuse(balancer: Balancer<string>, node: string, times = 1): void {
  for (let i = 0; i < times; i++) leaseOn(balancer, node).release({ error: refusal() })
}

test('nodes that refuse connections are ejected, however many they are', (t) => {
  const { balancer } = setUp({ name: 'refusing' })
  const events = eventsOf(t, 'refusing', ['idlest:member:ejected'])
  for (const node of ['a', 'b', 'c']) refuse(balancer, node, 5)
  t.is(ejected(balancer), 'abc')
  t.is(balancer.explain('a').words, 'not picked: ejected for 30 s more: it refuses connections')
  t.deepEqual(
    events.map(([, event]) => event),
    ['a', 'b', 'c'].map((node) => {
      return { balancer: 'refusing', node, reason: 'refused', times: 1, duration: 30_000 }
    }),
  )
  t.is(balancer.select(), 'd')
  t.is(balancer.stats().health.spared, 0)
})

test('where all refuse all are tried, and the first that answers gets everything', (t) => {
  for (const answer of [{ ok: true }, { ok: false, kind: 'status' }] satisfies Outcome[]) {
    const { balancer } = setUp()
    for (const node of ['a', 'b', 'c', 'd']) refuse(balancer, node, 5)
    const tried = new Set(Array.from({ length: 100 }, () => balancer.select()))
    t.is(tried.size, 4)
    refuse(balancer, 'a')
    leaseOn(balancer, 'b').release(answer)
    t.is(ejected(balancer), 'acd')
    t.deepEqual(new Set(Array.from({ length: 100 }, () => balancer.select())), new Set(['b']))
  }
})

test('a node that still refuses is out again after one more request, for no longer than before', async (t) => {
  const { balancer, clock } = setUp()
  refuse(balancer, 'a', 5)
  for (let time = 1; time <= 5; time++) {
    await clock.advance(30_000)
    t.is(ejected(balancer), '')
    refuse(balancer, 'a')
    t.is(ejected(balancer), 'a')
    t.is(balancer.snapshot()[0]?.ejected?.remaining, 30_000)
  }
  await clock.advance(30_000)
  leaseOn(balancer, 'a').release({ ok: true })
  refuse(balancer, 'a', 4)
  t.is(ejected(balancer), '')
})

test('the limit on ejections is one of those that accept connections', (t) => {
  const { balancer, fail } = setUp()
  refuse(balancer, 'a', 5)
  refuse(balancer, 'b', 5)
  fail('c', 5)
  t.is(ejected(balancer), 'abc')
  // Half of the two that are left.
  fail('d', 2)
  t.is(ejected(balancer), 'abc')
})

test('who refuses is no sign that all have too much to do, and stays out when others come back', (t) => {
  const { balancer, fail } = setUp()
  refuse(balancer, 'a', 3)
  refuse(balancer, 'b', 3)
  refuse(balancer, 'c', 3)
  fail('d', 5)
  t.is(ejected(balancer), 'd')
  const { balancer: other, fail: failOther } = setUp()
  refuse(other, 'a', 5)
  for (const node of ['b', 'c', 'd']) failOther(node, 5)
  t.is(other.stats().health.recalled, 1)
  t.is(ejected(other), 'a')
})

test('maxEjected 0 and health false keep nodes that refuse, too', (t) => {
  for (const health of [{ maxEjected: 0 }, { consecutiveFailures: 0 }, false] as const) {
    const { balancer } = setUp({ health })
    refuse(balancer, 'a', 20)
    t.is(ejected(balancer), '')
  }
})

test("the kind 'refused', codes, causes and several addresses say that a connection was refused", (t) => {
  const coded = (code: string) => Object.assign(new Error(code), { code })
  const outcomes: Outcome[] = [
    { ok: false, kind: 'refused' },
    { error: coded('ECONNREFUSED') },
    { error: coded('EHOSTUNREACH') },
    { error: coded('ENOTFOUND'), kind: 'connect' },
    { error: new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]) },
    { error: new Error('outer', { cause: new Error('inner', { cause: coded('ECONNREFUSED') }) }) },
  ]
  for (const outcome of outcomes) {
    const { balancer } = setUp()
    for (let i = 0; i < 5; i++) leaseOn(balancer, 'a').release(outcome)
    t.is(balancer.snapshot()[0]?.ejected?.reason, 'refused')
  }
  const others: unknown[] = [
    coded('ECONNRESET'),
    coded('UND_ERR_CONNECT_TIMEOUT'),
    new AggregateError([coded('ECONNREFUSED'), coded('ETIMEDOUT')]),
    new AggregateError([]),
    {
      get cause() {
        throw new Error('not to be read')
      },
    },
  ]
  for (const error of others) {
    const { balancer } = setUp()
    for (let i = 0; i < 5; i++) leaseOn(balancer, 'a').release({ error })
    t.is(balancer.snapshot()[0]?.ejected?.reason, 'consecutiveFailures')
  }
})

test('failures of requests that began before an ejection count for nothing after it', async (t) => {
  const { balancer, clock, end, fail } = setUp({ health: { failureRate: { minimum: 5, members: 1 } } })
  const old = Array.from({ length: 5 }, () => leaseOn(balancer, 'a'))
  const oldAnswers = Array.from({ length: 2 }, () => leaseOn(balancer, 'a'))
  fail('a', 5)
  t.is(ejected(balancer), 'a')
  await clock.advance(40_000)
  fail('a', 4)
  for (const lease of oldAnswers) lease.release({ ok: true })
  end('a', true)
  for (const lease of old) lease.release({ ok: false })
  await clock.advance(10_000)
  t.is(ejected(balancer), '')
  t.like(balancer.stats().leases, { failed: 14, failedLate: 5 })
  // Nor does an old answer end a row of failures.
  const { balancer: other, fail: failOther, clock: otherClock } = setUp()
  const before = leaseOn(other, 'a')
  failOther('a', 5)
  await otherClock.advance(30_000)
  failOther('a', 4)
  before.release({ ok: true })
  failOther('a')
  t.is(ejected(other), 'a')
})

test('an answer that began before a node refused connections does not bring it back', (t) => {
  const { balancer } = setUp()
  const old = leaseOn(balancer, 'a')
  refuse(balancer, 'a', 5)
  old.release({ ok: true })
  t.is(ejected(balancer), 'a')
})

test('late failures raise no cost', (t) => {
  for (const engine of engines) {
    const costs = [false, true].map((isLate) => {
      const clock = new VirtualClock()
      const nodes = ['a', 'b', 'c', 'd']
      const balancer = createBalancer({ nodes, poll: false, clock, seed: 1, engine, algorithm: adaptive() })
      const old = balancer.lease('a')
      for (let i = 0; i < 5; i++) balancer.lease('a').release({ ok: false, latency: 10 })
      if (isLate) old.release({ ok: false, latency: 10 })
      else old.release({ neutral: true })
      return balancer.snapshot()[0]?.cost
    })
    t.is(costs[0], costs[1])
  }
})

test('a request on a connection that the server had closed, or on a stream that it refused, is neutral', (t) => {
  const socketError = (message: string, bytesRead: number) =>
    Object.assign(new Error(message), { code: 'UND_ERR_SOCKET', socket: { bytesRead } })
  const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })
  const stream = (code: string) =>
    Object.assign(new Error(`Stream closed with error code ${code}`), { code: 'ERR_HTTP2_STREAM_ERROR' })
  const neutral: Outcome[] = [
    { error: fetchFailed(socketError('other side closed', 512)) },
    { ok: false, error: fetchFailed(socketError('other side closed', 512)) },
    { error: fetchFailed(stream('NGHTTP2_REFUSED_STREAM')) },
    { error: stream('NGHTTP2_REFUSED_STREAM') },
  ]
  const failures: Outcome[] = [
    { error: fetchFailed(socketError('other side closed', 0)) },
    // It may have been in the middle of a body.
    { error: socketError('other side closed', 512) },
    { error: new TypeError('terminated', { cause: socketError('other side closed', 512) }) },
    { error: stream('NGHTTP2_INTERNAL_ERROR') },
    { error: fetchFailed(socketError('other side closed', 512)), kind: 'reset' },
  ]
  for (const [outcomes, failed] of [
    [neutral, 0],
    [failures, 1],
  ] as const) {
    for (const outcome of outcomes) {
      const { balancer } = setUp()
      leaseOn(balancer, 'a').release(outcome)
      const { leases } = balancer.stats()
      t.deepEqual([leases.failed, leases.neutral], [failed, 1 - failed], JSON.stringify(outcome))
    }
  }
})
