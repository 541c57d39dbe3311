import { EventEmitter, once } from 'node:events'
import test from 'ava'
import type { Dispatcher } from 'undici/index.js'
import { createBalancer, roundRobin } from '../../../dist/index.js'
import { BalancedDispatcher } from '../../../dist/integrations/undici/index.js'
import { get, inTurn, named, node, over } from './servers.js'

const ignoring: Dispatcher.DispatchHandler = {
  onRequestStart: () => {},
  onResponseStart: () => {},
  onResponseData: () => {},
  onResponseEnd: () => {},
  onResponseError: () => {},
}

/** What sends nothing, and is busy after this many requests. */
class FakePool extends EventEmitter {
  left: number
  constructor(left: number) {
    super()
    this.left = left
  }
  dispatch(): boolean {
    return --this.left > 0
  }
  drain(): void {
    this.emit('drain', new URL('http://fake'), [this])
  }
  async close(): Promise<void> {}
  async destroy(): Promise<void> {}
}

test('dispatch returns false once all nodes are busy, and drain is emitted when one is not', async (t) => {
  const answers: (() => void)[] = []
  const held = () => node(t, (_request, response) => answers.push(() => response.end()))
  const { dispatcher } = over(t, [await held(), await held()], { pool: { connections: 1 } })
  t.true(dispatcher.dispatch(get, ignoring))
  t.false(dispatcher.dispatch(get, ignoring))
  const drained = once(dispatcher, 'drain')
  while (answers.length === 0) await new Promise(setImmediate)
  answers[0]?.()
  await drained
  t.is(answers.length, 2)
})

test('a node that nothing was sent to yet is not busy', async (t) => {
  const { dispatcher } = over(t, [await named(t, 'a'), await named(t, 'b')], { pool: { connections: 1 } })
  t.true(dispatcher.dispatch(get, ignoring))
})

test('drain is emitted once for each false, whichever node it is', (t) => {
  const pools = [new FakePool(1), new FakePool(1)]
  const made = [...pools]
  const dispatcher = new BalancedDispatcher(inTurn(t, ['a', 'b']), {
    factory: () => made.shift() as unknown as Dispatcher,
  })
  let drains = 0
  dispatcher.on('drain', () => drains++)
  t.true(dispatcher.dispatch(get, ignoring))
  t.false(dispatcher.dispatch(get, ignoring))
  pools[0]?.drain()
  pools[1]?.drain()
  t.is(drains, 1)
  pools[0]?.drain()
  t.is(drains, 1)
})

test('dispatch returns false once all nodes that may be picked are busy: the others do not count', async (t) => {
  const busy = (ids: readonly string[]) => {
    const balancer = createBalancer({ poll: false, algorithm: roundRobin(), nodes: ids })
    t.teardown(() => balancer.close())
    const factory = () => new FakePool(1) as unknown as Dispatcher
    return { balancer, dispatcher: new BalancedDispatcher(balancer, { factory }) }
  }
  const drained = busy(['a', 'b'])
  void drained.balancer.drain('b')
  t.false(drained.dispatcher.dispatch(get, ignoring))
  drained.balancer.add('b')
  t.true(drained.balancer.available.includes('b'))
  const ejected = busy(['a', 'b', 'c'])
  for (let i = 0; i < 5; i++) ejected.balancer.lease('c').release({ ok: false })
  t.deepEqual(ejected.balancer.available, ['a', 'b'])
  t.true(ejected.dispatcher.dispatch(get, ignoring))
  t.false(ejected.dispatcher.dispatch(get, ignoring))
  const down = busy(['a', 'b'])
  down.balancer.report('a', { state: 'down' })
  t.false(down.dispatcher.dispatch(get, ignoring))
})

test('a busy node that leaves is not waited for', (t) => {
  const pools: FakePool[] = []
  const balancer = inTurn(t, ['a', 'b'])
  const dispatcher = new BalancedDispatcher(balancer, {
    factory: () => {
      const pool = new FakePool(pools.length === 0 ? 1 : 100)
      pools.push(pool)
      return pool as unknown as Dispatcher
    },
  })
  t.true(dispatcher.dispatch(get, ignoring))
  balancer.remove('b')
  t.false(dispatcher.dispatch(get, ignoring))
  balancer.setNodes(['b'])
  t.true(dispatcher.dispatch(get, ignoring))
})

test('a request that is refused for what it is makes no node busy', async (t) => {
  const a = await named(t, 'a')
  const { dispatcher } = over(t, [a])
  t.true(dispatcher.dispatch({ path: 'no slash', method: 'GET' }, ignoring))
  t.true(dispatcher.dispatch(get, ignoring))
})

test('a body that nobody reads holds the node back', async (t) => {
  let written = 0
  let isFull: () => void
  const full = new Promise<void>((resolve) => {
    isFull = resolve
  })
  const chunk = Buffer.alloc(1_048_576)
  const total = 64
  const large = await node(t, (_request, response) => {
    const more = () => {
      while (written < total) {
        written++
        if (!response.write(chunk)) return isFull()
      }
      response.end()
    }
    response.on('drain', more)
    more()
  })
  const { dispatcher, inFlight } = over(t, [large])
  const { body } = await dispatcher.request(get)
  await full
  t.true(written < total)
  t.deepEqual(inFlight(), [1])
  let size = 0
  for await (const part of body) size += (part as Buffer).length
  t.is(size, total * chunk.length)
  t.deepEqual(inFlight(), [0])
})
