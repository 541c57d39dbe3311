import { inspect } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { attachBalancer, createBalancer, createTable } from '../dist/index.js'
import { BalancedDispatcher } from '../dist/integrations/undici/index.js'

interface Node {
  readonly id: string
  readonly token: string
  self?: unknown
}

function scene(t: ExecutionContext) {
  const node: Node = { id: 'http://127.0.0.1:1', token: 'S3same' }
  // No JSON can be made of this.
  node.self = node
  const table = createTable()
  const balancer = createBalancer<Node>({ nodes: [node], name: 'mine', table, poll: false })
  t.teardown(() => balancer.close())
  return { table, balancer }
}

const ids = ['http://127.0.0.1:1']

test('a balancer is written as JSON: its name, how it picks, and the ids of its nodes', (t) => {
  const { balancer } = scene(t)
  const { engine, algorithm } = balancer
  const json = { name: 'mine', engine, algorithm, nodes: ids, closed: false }
  t.deepEqual(JSON.parse(JSON.stringify({ balancer })), { balancer: json })
  t.notRegex(inspect(balancer, { depth: 9, showHidden: true }), /S3same/)
  const attached = attachBalancer(balancer.handle())
  t.deepEqual(JSON.parse(JSON.stringify(attached)), json)
  t.notThrows(() => JSON.stringify(balancer.handle()))
  attached.close()
  t.like(JSON.parse(JSON.stringify(attached)), { nodes: [], closed: true })
})

test('a table is written as JSON without its memory', (t) => {
  const { table } = scene(t)
  t.like(JSON.parse(JSON.stringify(table)), { nodes: 1 })
  t.true(inspect(table).length < 100)
})

test('a lease is written as JSON: the id of its node, and whether it is over', (t) => {
  const { balancer } = scene(t)
  const lease = balancer.acquire()
  t.deepEqual(JSON.parse(JSON.stringify(lease)), { node: ids[0], released: false })
  lease.release()
  t.deepEqual(JSON.parse(JSON.stringify(lease)), { node: ids[0], released: true })
  t.notRegex(inspect(lease, { depth: 9, showHidden: true }), /S3same/)
})

test('a meter is written as JSON', (t) => {
  const { balancer } = scene(t)
  const meter = balancer.meter(ids[0] as never)
  t.like(JSON.parse(JSON.stringify(meter)), { metric: 'queueDelay' })
  meter.close()
})

test('a dispatcher is written as JSON, and prints without the keys of its connections', async (t) => {
  const { balancer } = scene(t)
  const dispatcher = new BalancedDispatcher(balancer, { pool: { connect: { key: 'S3same' } } })
  await t.throwsAsync(dispatcher.request({ origin: 'http://x', path: '/', method: 'GET' }))
  t.like(JSON.parse(JSON.stringify(dispatcher)), { requests: 1, closed: false })
  t.notRegex(inspect(dispatcher, { depth: 9, showHidden: true }), /S3same/)
  await dispatcher.close()
})
