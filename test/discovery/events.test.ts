import { channel } from 'node:diagnostics_channel'
import test from 'ava'
import { createBalancer, eventDiscovery, type NodeEvent, OptionError, random } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { warningsOf } from '../support/warnings.js'

// Events that a test pushes.
class Feed implements AsyncIterable<NodeEvent<string>> {
  returned = false
  #queue: NodeEvent<string>[] = []
  #wake: (() => void) | undefined
  #failure: Error | undefined
  #ended = false

  push(...events: NodeEvent<string>[]): void {
    this.#queue.push(...events)
    this.#wake?.()
  }

  fail(error: Error): void {
    this.#failure = error
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<NodeEvent<string>> {
    try {
      while (!this.#ended) {
        const event = this.#queue.shift()
        if (event !== undefined) yield event
        else if (this.#failure !== undefined) throw this.#failure
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      }
    } finally {
      this.returned = true
    }
  }
}

function setUp(name: string) {
  const clock = new VirtualClock()
  const feed = new Feed()
  const discovery = eventDiscovery(feed, { clock, name })
  const balancer = createBalancer<string>({
    nodes: discovery,
    clock,
    poll: false,
    algorithm: random(),
    coalesce: 0,
  })
  return { clock, feed, discovery, balancer }
}

test('lists replace the members, changes add and remove, and an empty list is believed', async (t) => {
  const { clock, feed, balancer } = setUp('lists')
  feed.push(['a', 'b'])
  await clock.advance(50)
  t.deepEqual(balancer.nodes, ['a', 'b'])
  feed.push({ add: ['c'], remove: ['a', 'unknown'] })
  await clock.advance(50)
  t.deepEqual(balancer.nodes, ['c', 'b'])
  feed.push([])
  await clock.advance(50)
  t.deepEqual(balancer.nodes, [])
  t.like(balancer.stats().discovery, { looks: 3, changes: 3, added: 3, removed: 3, nodes: 0 })
})

test('events that come fast are passed on together', async (t) => {
  const { clock, feed, balancer, discovery } = setUp('fast')
  feed.push(['a'])
  await clock.advance(50)
  for (let i = 0; i < 1_000; i++) feed.push({ add: [`n${i}`], remove: [`n${i - 1}`] })
  await clock.advance(50)
  t.deepEqual(balancer.nodes, ['a', 'n999'])
  const { looks, changes } = discovery.stats()
  t.is(looks, 1_001)
  t.true(changes <= 3)
})

test('an event that makes no sense changes nothing, whole', async (t) => {
  const { clock, feed, balancer } = setUp('senseless')
  const warnings = warningsOf(t, 'IDLEST_DISCOVERY', 'senseless')
  feed.push(['a'])
  await clock.advance(50)
  const bad: unknown[] = [
    ['b', 'b'],
    [''],
    [{ id: 'b', weight: -1 }],
    [{ id: 'b', priority: 0.5 }],
    { add: ['b', ''] },
    { add: 'b' },
    null,
    5,
    'b',
    {},
    { added: ['b'] },
  ]
  for (const event of bad) feed.push(event as NodeEvent<string>)
  await clock.advance(50)
  t.deepEqual(balancer.nodes, ['a'])
  const wrong = balancer.stats().discovery?.problems.invalid
  t.is(wrong, bad.length)
  await new Promise(setImmediate)
  t.is(warnings.length, 1)
})

test('when the events end or throw, the members stay, with one warning', async (t) => {
  for (const how of ['end', 'throw'] as const) {
    const { clock, feed, balancer } = setUp(`events that ${how}`)
    const warnings = warningsOf(t, 'IDLEST_DISCOVERY', `events that ${how}`)
    feed.push(['a'])
    await clock.advance(50)
    if (how === 'end') feed.end()
    else feed.fail(new Error('the watch broke'))
    await clock.advance(1_000)
    t.deepEqual(balancer.nodes, ['a'])
    t.is(balancer.stats().discovery?.problems.failed, 1)
    t.is(warnings.length, 1)
    t.regex(warnings[0] ?? '', how === 'end' ? /have ended; the 1 known stay/ : /the watch broke/)
  }
})

test('events are read until the discovery is closed, whoever follows', async (t) => {
  const { clock, feed, balancer, discovery } = setUp('closing')
  feed.push(['a'])
  await clock.advance(50)
  await balancer.close()
  feed.push(['a', 'b'])
  await clock.advance(50)
  t.deepEqual(discovery.nodes, ['a', 'b'])
  const late = createBalancer<string>({ nodes: discovery, clock, poll: false })
  t.deepEqual(late.nodes, ['a', 'b'])
  await discovery.close()
  t.deepEqual(late.nodes, ['a', 'b'])
  t.throws(() => discovery.follow({ take: () => {} }), { code: 'IDLEST_CLOSED' })
  await late.close()
})

test('a discovery can be looped over, for setNodes by hand', async (t) => {
  const feed = new Feed()
  const discovery = eventDiscovery(feed, { coalesce: 0 })
  const balancer = createBalancer<string>({ poll: false })
  feed.push(['a'])
  t.deepEqual(await discovery.ready(), ['a'])
  const seen: string[] = []
  const loop = (async () => {
    for await (const nodes of discovery) {
      balancer.setNodes(nodes)
      seen.push(nodes.join(''))
      if (nodes.length === 2) await discovery.close()
      else feed.push({ add: ['b'] })
    }
  })()
  await loop
  t.deepEqual(seen, ['a', 'ab'])
  t.deepEqual(balancer.nodes, ['a', 'b'])
  await t.throwsAsync(discovery.ready(), { code: 'IDLEST_CLOSED' })
})

test('nodes are the very objects of the events, and one that comes again is replaced', async (t) => {
  const clock = new VirtualClock()
  const first = { id: 'a', zone: 1 }
  const second = { id: 'a', zone: 2 }
  async function* events() {
    yield [first]
    yield { add: [second] }
  }
  const discovery = eventDiscovery<{ id: string; zone: number }>(events(), { clock, name: 'objects' })
  const balancer = createBalancer({ nodes: discovery, clock, poll: false, coalesce: 0 })
  await clock.advance(0)
  t.is(balancer.select(), first)
  await clock.advance(50)
  t.is(balancer.select(), second)
})

test('changes and problems are told on channels', async (t) => {
  const heard: unknown[] = []
  for (const name of ['idlest:discovery:change', 'idlest:discovery:problem']) {
    const listen = (event: unknown) => {
      if ((event as { discovery: string }).discovery === 'told') heard.push([name, event])
    }
    channel(name).subscribe(listen)
    t.teardown(() => {
      channel(name).unsubscribe(listen)
    })
  }
  const { clock, feed } = setUp('told')
  feed.push(['a', 'b'])
  await clock.advance(50)
  feed.push({ remove: ['a'], add: ['c'] })
  await clock.advance(50)
  feed.end()
  await clock.advance(50)
  const discovery = 'told'
  t.deepEqual(heard, [
    ['idlest:discovery:change', { discovery, nodes: 2, added: ['a', 'b'], removed: [] }],
    ['idlest:discovery:change', { discovery, nodes: 2, added: ['c'], removed: ['a'] }],
    [
      'idlest:discovery:problem',
      { discovery, kind: 'failed', reason: 'the events have ended', error: undefined },
    ],
  ])
})

test('what gives no events is refused', (t) => {
  for (const wrong of [undefined, ['a'], {}, () => {}]) {
    t.throws(() => eventDiscovery(wrong as never), { instanceOf: OptionError })
  }
  t.throws(() => eventDiscovery(new Feed(), { coalesced: 1 } as never), { instanceOf: OptionError })
})
