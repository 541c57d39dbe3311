import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'ava'
import { createBalancer } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import type { PollEvent } from '../../dist/telemetry.js'

test('closing from within a poll asks no other node, and aborts those that were asked', async (t) => {
  const clock = new VirtualClock()
  const signals: AbortSignal[] = []
  const balancer = createBalancer({
    nodes: ['a', 'b', 'c'],
    clock,
    poll: {
      startupJitter: 0,
      transport: {
        poll(node, signal) {
          signals.push(signal)
          if (node === 'b') void balancer.close()
          return new Promise(() => {})
        },
      },
    },
  })
  await clock.advance(0)
  t.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  )
  t.is(clock.pending, 0)
})

test('closing from a subscriber of a cycle’s start begins nothing, and ends the cycle with the error', async (t) => {
  const clock = new VirtualClock()
  const calls: string[] = []
  const events: string[] = []
  const name = 'closed-at-start'
  const told = (what: string) => (message: unknown) => {
    const event = message as PollEvent
    if (event.balancer !== name) return
    events.push(`${what} ${event.error === undefined ? '' : 'error'}`.trim())
    if (what === 'start') void balancer.close()
  }
  const listeners = ['start', 'end', 'error'].map(
    (what) => [`tracing:idlest:poll:${what}`, told(what)] as const,
  )
  for (const [channel, listener] of listeners) subscribe(channel, listener)
  const balancer = createBalancer({
    name,
    nodes: ['a'],
    self: 's',
    clock,
    sampler: () => {
      calls.push('sample')
      return 1
    },
    poll: {
      startupJitter: 0,
      transport: {
        poll: async () => {
          calls.push('poll')
          return {}
        },
      },
    },
  })
  await clock.advance(10_000)
  for (const [channel, listener] of listeners) unsubscribe(channel, listener)
  t.deepEqual(calls, [])
  t.deepEqual(events, ['start', 'error error', 'end error'])
  t.is(clock.pending, 0)
})

test('whatever a transport rejects with is told as a failure of that node', async (t) => {
  const clock = new VirtualClock()
  const reasons: unknown[] = [
    Object.create(null),
    Symbol('no'),
    Object.assign(new Error(), { message: Symbol('no') }),
    {
      toString() {
        throw new Error('mine')
      },
    },
    undefined,
  ]
  const balancer = createBalancer({
    nodes: reasons.map((_, i) => `${i}`),
    clock,
    poll: { startupJitter: 0, transport: { poll: async (node) => Promise.reject(reasons[Number(node)]) } },
  })
  await clock.advance(0)
  t.is(balancer.stats().poll?.cycles, 1)
  t.is(balancer.stats().poll?.exit, reasons.length)
  await balancer.close()
})
