import test from 'ava'
import { errors } from 'undici/index.js'
import { get, named, node, over } from './servers.js'

type Context = Parameters<typeof named>[0]

/** A node that answers when the test says so, and a request that it has. */
async function underWay(t: Context) {
  const answers: (() => void)[] = []
  let isAsked: () => void
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const slow = await node(t, (_request, response) => {
    answers.push(() => response.end('done'))
    isAsked()
  })
  const set = over(t, [slow, await named(t, 'b')])
  const answer = set.dispatcher.request(get)
  await asked
  return { ...set, answer, end: () => answers[0]?.() }
}

test('close waits for what is under way, and takes no more', async (t) => {
  const { dispatcher, answer, end, inFlight } = await underWay(t)
  let isClosed = false
  const closed = dispatcher.close().then(() => {
    isClosed = true
  })
  t.true(dispatcher.closed)
  await t.throwsAsync(dispatcher.request(get), { instanceOf: errors.ClientClosedError })
  t.false(isClosed)
  end()
  t.is(await (await answer).body.text(), 'done')
  await closed
  t.true(dispatcher.destroyed)
  t.deepEqual(inFlight(), [0, 0])
  await t.throwsAsync(dispatcher.request(get), { instanceOf: errors.ClientDestroyedError })
})

test('destroy ends what is under way with its error, which says nothing of the node', async (t) => {
  const wrong = new Error('enough')
  for (const [given, expected] of [
    [wrong, wrong],
    [null, undefined],
  ] as const) {
    const { dispatcher, answer, inFlight, outcomes } = await underWay(t)
    const destroyed = dispatcher.destroy(given)
    t.true(dispatcher.destroyed)
    const error = await t.throwsAsync(answer)
    if (expected === undefined) t.true(error instanceof errors.ClientDestroyedError)
    else t.is(error, expected)
    await destroyed
    t.deepEqual(inFlight(), [0, 0])
    t.deepEqual(outcomes(), [
      [0, 0],
      [0, 0],
    ])
  }
})

test('both take a callback, and may be called again', async (t) => {
  const { dispatcher } = over(t, [await named(t, 'a')])
  await (await dispatcher.request(get)).body.dump()
  await new Promise<void>((resolve) => dispatcher.close(resolve))
  await new Promise<void>((resolve) => dispatcher.destroy(resolve))
  await new Promise<void>((resolve) => dispatcher.destroy(null, resolve))
  await dispatcher.destroy()
  await t.throwsAsync(dispatcher.close(), { instanceOf: errors.ClientDestroyedError })
  const error = await new Promise((resolve) => dispatcher.close(resolve as () => void))
  t.true(error instanceof errors.ClientDestroyedError)
  t.throws(() => dispatcher.close('now' as never), { instanceOf: errors.InvalidArgumentError })
})

test('two who close both wait', async (t) => {
  const { dispatcher, answer, end } = await underWay(t)
  const closed = Promise.all([dispatcher.close(), dispatcher.close()])
  end()
  await (await answer).body.dump()
  t.is((await closed).length, 2)
})

test('the balancer stays open: it belongs to whoever made it', async (t) => {
  const { dispatcher, balancer } = over(t, [await named(t, 'a')])
  await dispatcher.close()
  t.notThrows(() => balancer.select())
})

test('while it closes, nothing is sent to another node', async (t) => {
  let isClosing: Promise<void> | undefined
  const bad = await node(t, ({ socket }) => {
    isClosing = dispatcher.close()
    socket.destroy()
  })
  const good = await named(t, 'good')
  const { dispatcher } = over(t, [bad, good])
  await t.throwsAsync(dispatcher.request(get), { code: 'UND_ERR_SOCKET' })
  await isClosing
  t.is(good.requests(), 0)
})
