import test from 'ava'
import { createBalancer, createTable, functionTransport, type Report } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const POLL = { interval: 1_000, timeout: 500, startupJitter: 0 }

/** A balancer of one node that answers with `answer`, or fails while that is undefined; polled when `poll` is awaited. */
function polled(t: import('ava').ExecutionContext, first: Report) {
  const clock = new VirtualClock()
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => warnings.push(message)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const node = { answer: first as Report | undefined }
  const fetch = async () => {
    if (node.answer === undefined) throw new Error('connect ECONNREFUSED')
    return node.answer
  }
  const balancer = createBalancer({
    nodes: ['a'],
    table: createTable({ clock }),
    poll: { ...POLL, transport: functionTransport(fetch) },
  })
  t.teardown(() => balancer.close())
  const poll = async () => {
    await clock.advance(1_500)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { balancer, node, poll, warnings }
}

for (const state of ['drain', 'maint'] as const) {
  test.serial(`a node that said ${state} and stops is counted as failing, without a warning`, async (t) => {
    const { balancer, node, poll, warnings } = polled(t, { cpu: 5, state })
    await poll()
    node.answer = undefined
    await poll()
    t.is(balancer.stats().poll?.failing, 1)
    t.deepEqual(warnings, [])
    node.answer = { cpu: 5, state: 'up' }
    await poll()
    node.answer = undefined
    await poll()
    t.is(warnings.length, 1)
    t.regex(warnings[0] ?? '', /"a" can't be polled/)
  })
}

test.serial('a node that this process drained is not warned of either', async (t) => {
  const { balancer, node, poll, warnings } = polled(t, { cpu: 5 })
  await poll()
  void balancer.drain('a')
  node.answer = undefined
  await poll()
  t.deepEqual(warnings, [])
})

test.serial('a node that says it is down, or says nothing, is warned of when it stops', async (t) => {
  for (const first of [{ cpu: 5 }, { cpu: 5, state: 'down' }] as Report[]) {
    const { node, poll, warnings } = polled(t, first)
    await poll()
    node.answer = undefined
    await poll()
    t.is(warnings.length, 1)
  }
})
