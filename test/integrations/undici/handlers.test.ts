import { EventEmitter } from 'node:events'
import test from 'ava'
import { type Dispatcher, errors } from 'undici/index.js'
import { get, named, nobody, node, over } from './servers.js'

type Handler = Dispatcher.DispatchHandler

/** Dispatches, and gives what the handler is told, in order. */
function toldOf(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions = get): Promise<string[]> {
  return new Promise((resolve) => {
    const told: string[] = []
    dispatcher.dispatch(request, {
      onRequestStart: () => told.push('start'),
      onResponseStart: (_controller, status) => told.push(`status ${status}`),
      onResponseData: (_controller, chunk) => told.push(`data ${chunk}`),
      onResponseEnd: () => resolve([...told, 'end']),
      onResponseError: (_controller, error) =>
        resolve([...told, `error ${(error as { code?: string }).code}`]),
    })
  })
}

/** The same by the interface that was before. */
function toldLegacy(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions = get): Promise<string[]> {
  return new Promise((resolve) => {
    const told: string[] = []
    dispatcher.dispatch(request, {
      onConnect: () => told.push('start'),
      onHeaders: (status) => told.push(`status ${status}`) > 0,
      onData: (chunk) => told.push(`data ${chunk}`) > 0,
      onComplete: () => resolve([...told, 'end']),
      onError: (error) => resolve([...told, `error ${(error as { code?: string }).code}`]),
    })
  })
}

for (const [kind, ask] of [
  ['with controllers', toldOf],
  ['from before', toldLegacy],
] as const) {
  test(`handlers ${kind} hear of one request, however often it is sent`, async (t) => {
    const failing = await node(t, (_request, response) => {
      response.statusCode = 503
      response.end('failed')
    })
    const refusing = { id: await nobody(t) }
    const good = await named(t, 'good')
    const retry = { attempts: 3 }
    const heard = ['start', 'status 200', 'data good', 'end']
    t.deepEqual(await ask(over(t, [good]).dispatcher), heard)
    t.deepEqual(await ask(over(t, [failing, refusing, good], { retry }).dispatcher), heard)
    t.deepEqual(await ask(over(t, [refusing, failing, good], { retry }).dispatcher), heard)
    t.deepEqual(await ask(over(t, [refusing]).dispatcher), ['start', 'error ECONNREFUSED'])
    const last = await ask(over(t, [refusing, failing]).dispatcher)
    t.deepEqual(last, ['start', 'status 503', 'data failed', 'end'])
    t.deepEqual(await ask(over(t, []).dispatcher), ['error IDLEST_NO_NODES'])
    const invalid = await ask(over(t, [good]).dispatcher, { path: 'no slash', method: 'GET' })
    t.deepEqual(invalid, ['start', 'error UND_ERR_INVALID_ARG'])
  })

  test(`handlers ${kind} hear of early hints`, async (t) => {
    const hinting = await node(t, (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.end('body'))
    })
    const heard = await ask(over(t, [hinting]).dispatcher)
    t.deepEqual(heard, ['start', 'status 103', 'status 200', 'data body', 'end'])
  })
}

test('a controller pauses, resumes and aborts; it is the same after a retry', async (t) => {
  const failing = await node(t, (_request, response) => {
    response.statusCode = 503
    response.end()
  })
  const { dispatcher, inFlight, balancer } = over(t, [failing, await named(t, 'good')])
  const reason = new Error('heard enough')
  const controllers = new Set<Dispatcher.DispatchController>()
  const chunks: string[] = []
  const error = await new Promise((resolve) => {
    dispatcher.dispatch(get, {
      onRequestStart: (controller) => {
        controllers.add(controller)
        t.false(controller.aborted)
        t.is(controller.reason, null)
      },
      onResponseStart: (controller) => {
        controllers.add(controller)
        controller.pause()
        t.true(controller.paused)
        t.true(Array.isArray(controller.rawHeaders))
        setImmediate(() => {
          t.deepEqual(chunks, [])
          controller.resume()
          t.false(controller.paused)
        })
      },
      onResponseData: (controller, chunk) => {
        chunks.push(`${chunk}`)
        controller.abort(reason)
        t.true(controller.aborted)
        t.is(controller.reason, reason)
      },
      onResponseError: (controller, error) => {
        controllers.add(controller)
        resolve(error)
      },
    })
  })
  t.is(error, reason)
  t.deepEqual(chunks, ['good'])
  t.is(controllers.size, 1)
  t.deepEqual(inFlight(), [0, 0])
  t.is(balancer.stats().leases.neutral, 1)
})

test('who aborts as soon as there is a connection sends nothing', async (t) => {
  const a = await named(t, 'a')
  const { dispatcher, outcomes } = over(t, [a, await named(t, 'b')])
  const error = await new Promise((resolve) => {
    dispatcher.dispatch(get, {
      onConnect: (abort) => abort(),
      onHeaders: () => true,
      onData: () => true,
      onComplete: () => resolve('complete'),
      onError: resolve,
    })
  })
  t.true(error instanceof errors.RequestAbortedError)
  t.is(a.requests(), 0)
  t.deepEqual(outcomes(), [
    [0, 0],
    [0, 0],
  ])
})

test('handlers that undici refuses are refused with its words', async (t) => {
  const { dispatcher } = over(t, [await named(t, 'a')])
  const refused = (handler: unknown, message: string, request = get) =>
    t.throws(() => dispatcher.dispatch(request as never, handler as Handler), {
      instanceOf: errors.InvalidArgumentError,
      message,
    })
  refused(undefined, 'handler must be an object')
  refused('handler', 'handler must be an object')
  refused({}, 'invalid onConnect method')
  refused({ onConnect: () => {} }, 'invalid onError method')
  const told: unknown[] = []
  const onError = (error: Error) => told.push(error.message)
  const onConnect = () => {}
  t.false(dispatcher.dispatch(get, { onConnect, onError }))
  t.false(dispatcher.dispatch({ ...get, upgrade: 'x' }, { onConnect, onError }))
  t.false(dispatcher.dispatch(undefined as never, { onConnect, onError }))
  t.deepEqual(told, ['invalid onHeaders method', 'invalid onUpgrade method', 'opts must be an object.'])
})

test('what a factory, origins or key throws is told to the handler, and nothing stays in flight', async (t) => {
  const wrong = new Error('no such place')
  const fail = (): never => {
    throw wrong
  }
  const a = await named(t, 'a')
  for (const options of [{ factory: fail }, { origins: fail }, { key: fail }]) {
    const { dispatcher, inFlight } = over(t, [a], options)
    t.is(await t.throwsAsync(dispatcher.request(get)), wrong)
    t.deepEqual(inFlight(), [0])
    t.is(dispatcher.stats.failures.connect + dispatcher.stats.unplaced, 1)
  }
  for (const made of [null, {}, new EventEmitter(), { dispatch: () => true }]) {
    const { dispatcher, inFlight } = over(t, [a], { factory: () => made as Dispatcher })
    await t.throwsAsync(dispatcher.request(get), { code: 'IDLEST_BAD_OPTION', message: /option factory is/ })
    t.deepEqual(inFlight(), [0])
  }
  const { dispatcher } = over(t, [a], { origins: () => 'no origin' })
  await t.throwsAsync(dispatcher.request(get), {
    code: 'IDLEST_BAD_OPTION',
    message: /option origins is "no origin"/,
  })
})
