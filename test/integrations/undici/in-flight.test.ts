import type { ServerResponse } from 'node:http'
import test from 'ava'
import { get, node, over } from './servers.js'

/** A node whose answers the test writes. */
async function held(t: Parameters<typeof node>[0]) {
  const answers: ServerResponse[] = []
  const waiting: (() => void)[] = []
  const a = await node(t, (_request, response) => {
    answers.push(response)
    waiting.shift()?.()
  })
  const asked = async (): Promise<ServerResponse> => {
    if (answers.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    return answers.shift() as ServerResponse
  }
  return { a, asked }
}

test('a request is in flight until its body has ended', async (t) => {
  const { a, asked } = await held(t)
  const { dispatcher, inFlight, outcomes } = over(t, [a])
  const answer = dispatcher.request(get)
  t.deepEqual(inFlight(), [1])
  const response = await asked()
  response.write('first')
  const { body } = await answer
  t.deepEqual(inFlight(), [1])
  response.end()
  t.is(await body.text(), 'first')
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[1, 0]])
})

test('a request that is aborted before it is answered is in flight no more, and says nothing of the node', async (t) => {
  const { a, asked } = await held(t)
  const { balancer, dispatcher, inFlight, outcomes } = over(t, [a])
  const controller = new AbortController()
  const answer = dispatcher.request({ ...get, signal: controller.signal })
  await asked()
  const reason = new Error('never mind')
  controller.abort(reason)
  t.is(await t.throwsAsync(answer), reason)
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[0, 0]])
  t.is(balancer.stats().leases.neutral, 1)
  t.is(dispatcher.stats.abandoned, 1)
})

test('a body that is given up half way is in flight no more, and says nothing of the node', async (t) => {
  const { a, asked } = await held(t)
  const { dispatcher, inFlight, outcomes } = over(t, [a])
  const answer = dispatcher.request(get)
  ;(await asked()).write('first')
  const { body } = await answer
  const closed = new Promise((resolve) => body.on('error', () => {}).on('close', resolve))
  body.destroy()
  await closed
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[0, 0]])
})

test('a connection that is lost half way through a body is a failure', async (t) => {
  const { a, asked } = await held(t)
  const { dispatcher, inFlight, outcomes } = over(t, [a])
  const answer = dispatcher.request(get)
  const response = await asked()
  response.write('first')
  const { body } = await answer
  response.destroy()
  await t.throwsAsync(body.text())
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[1, 1]])
  t.is(dispatcher.stats.failures.reset, 1)
})

test('requests that wait for a connection are in flight too', async (t) => {
  const { a, asked } = await held(t)
  const { dispatcher, inFlight } = over(t, [a], { pool: { connections: 1 } })
  const answers = [dispatcher.request(get), dispatcher.request(get), dispatcher.request(get)]
  t.deepEqual(inFlight(), [3])
  for (const answer of answers) {
    ;(await asked()).end()
    await (await answer).body.dump()
  }
  t.deepEqual(inFlight(), [0])
})

test('fetch that is aborted leaves nothing in flight', async (t) => {
  const { a, asked } = await held(t)
  const { dispatcher, inFlight, outcomes } = over(t, [a])
  const controller = new AbortController()
  const answer = fetch('http://service.local/', { signal: controller.signal, dispatcher } as RequestInit)
  await Promise.race([asked(), answer])
  controller.abort()
  await t.throwsAsync(answer, { any: true, name: 'AbortError' })
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[0, 0]])
})
