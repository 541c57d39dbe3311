import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { type Balancer, createBalancer, createTable, OptionError, roundRobin } from '../../dist/index.js'
import { BalancedDispatcher } from '../../dist/integrations/undici/index.js'
import { moduleFile } from '../support/module-file.js'

const nodes = ['a', 'b', 'c']

function inTurn(options: object = {}): Balancer<string> {
  const table = createTable()
  const balancer = createBalancer({ nodes, poll: false, algorithm: roundRobin(), seed: 1, table, ...options })
  while (balancer.selectIndex() !== nodes.length - 1);
  return balancer
}

const failedOf = (balancer: Balancer<string>) => balancer.snapshot().map(({ failed }) => failed)

test('work that throws is done on another node, up to the number of attempts; the last error is thrown as it is', async (t) => {
  const balancer = inTurn()
  const seen: unknown[] = []
  const errors = [new Error('first'), new Error('second')] as const
  const work = (
    node: string,
    { attempt, mode, error }: { attempt: number; mode: string; error: unknown },
  ) => {
    seen.push([node, attempt, mode, error])
    if (attempt < 3) throw errors[attempt - 1]
    return 'done'
  }
  t.is(await balancer.run(work, { attempts: 3 }), 'done')
  t.deepEqual(seen, [
    ['a', 1, 'first', undefined],
    ['b', 2, 'retry', errors[0]],
    ['c', 3, 'retry', errors[1]],
  ])
  t.deepEqual(failedOf(balancer), [1, 1, 0])
  t.is(await t.throwsAsync(balancer.run(work, { attempts: 2 })), errors[1])
  // Nothing is retried that was not asked for, and no node is asked twice.
  t.is(await t.throwsAsync(balancer.run(work)), errors[0])
  let times = 0
  await t.throwsAsync(
    balancer.run(() => Promise.reject(new Error(`${++times}`)), { attempts: 10 }),
    { message: '3' },
  )
  t.deepEqual(balancer.stats().retries, { requests: 4, retries: 5, denied: 0 })
  t.deepEqual(
    balancer.snapshot().map(({ inFlight }) => inFlight),
    [0, 0, 0],
  )
})

test('a key and excluded nodes hold for all attempts', async (t) => {
  const balancer = inTurn()
  const seen: string[] = []
  const work = (node: string) => {
    seen.push(node)
    throw new Error('always')
  }
  await t.throwsAsync(balancer.run(work, { exclude: ['b'], attempts: 3 }))
  t.deepEqual(seen.sort(), ['a', 'c'])
})

test("what the caller's signal aborts blames no node, whatever the reason, and is not retried", async (t) => {
  for (const reason of [undefined, new Error('shut down'), new DOMException('late', 'TimeoutError')]) {
    const balancer = inTurn()
    for (let i = 0; i < 20; i++) {
      const controller = new AbortController()
      const done = balancer.run(
        (_node, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        { signal: controller.signal, attempts: 2 },
      )
      controller.abort(reason)
      t.is(await t.throwsAsync(done, { any: true }), controller.signal.reason)
    }
    t.like(balancer.stats(), { leases: { acquired: 20, failed: 0, neutral: 20 }, retries: { retries: 0 } })
    t.is(balancer.available.length, 3)
  }
})

test('an AbortError blames no node either, and a time-out of an attempt does', async (t) => {
  const balancer = inTurn()
  const throwing = (name: string) => () => Promise.reject(new DOMException('enough', name))
  await t.throwsAsync(balancer.run(throwing('AbortError'), { attempts: 2 }), { any: true })
  t.like(balancer.stats(), { leases: { failed: 0, neutral: 1 }, retries: { retries: 0 } })
  await t.throwsAsync(balancer.run(throwing('TimeoutError'), { attempts: 2 }), { any: true })
  t.like(balancer.stats(), { leases: { failed: 2, neutral: 1 }, retries: { retries: 1 } })
})

test('a signal that is aborted already asks nobody', async (t) => {
  const balancer = inTurn()
  const reason = new Error('gone')
  let times = 0
  const done = balancer.run(() => times++, { signal: AbortSignal.abort(reason) })
  t.is(await t.throwsAsync(done), reason)
  t.is(times, 0)
  t.like(balancer.stats(), { leases: { acquired: 0 }, retries: { requests: 0 } })
})

test('without a signal work gets one that is never aborted', async (t) => {
  t.false(await inTurn().run((_node, { signal }) => signal.aborted))
})

test('work says by setOutcome how it went, and only what counts as failed is retried', async (t) => {
  const balancer = inTurn()
  const thrown = (outcome: object) =>
    balancer.run(
      (_node, { setOutcome }) => {
        setOutcome(outcome)
        throw new Error('thrown')
      },
      { attempts: 2 },
    )
  await t.throwsAsync(thrown({ ok: true }))
  t.like(balancer.stats().leases, { released: 1, failed: 0, neutral: 0 })
  await t.throwsAsync(thrown({ neutral: true }))
  t.like(balancer.stats().leases, { released: 2, failed: 0, neutral: 1 })
  await t.throwsAsync(thrown({ kind: 'mine' }))
  t.like(balancer.stats().leases, { released: 4, failed: 2, neutral: 1 })
  const returned = await balancer.run(
    (_node, { setOutcome }) => {
      setOutcome({ ok: false })
      return 'a bad answer'
    },
    { attempts: 2 },
  )
  t.is(returned, 'a bad answer')
  t.like(balancer.stats().leases, { released: 5, failed: 3 })
})

test('run and all dispatchers of a balancer have one budget', async (t) => {
  const balancer = inTurn({ retryBudget: 0.1, health: false })
  const origins = () => 'http://127.0.0.1:1'
  const first = new BalancedDispatcher(balancer, { origins })
  const second = new BalancedDispatcher(balancer, { origins })
  t.teardown(() => Promise.all([first.destroy(), second.destroy()]))
  const fail = () => Promise.reject(new Error('always'))
  for (let i = 0; i < 100; i++) {
    await balancer.run(fail, { attempts: 2 }).catch(() => {})
    for (const dispatcher of [first, second]) {
      await dispatcher.request({ path: '/', method: 'GET', origin: 'http://any' }).catch(() => {})
    }
  }
  const { requests, retries, denied } = balancer.stats().retries
  t.deepEqual([requests, retries, denied], [300, 40, 260])
  t.true(first.stats.retries + second.stats.retries < retries)
  const none = inTurn({ retryBudget: 0 })
  await t.throwsAsync(none.run(fail, { attempts: 2 }))
  t.deepEqual(none.stats().retries, { requests: 1, retries: 0, denied: 1 })
})

test('options of run are checked', async (t) => {
  const balancer = inTurn()
  const work = () => 1
  for (const options of [
    { attempts: 0 },
    { attempts: 1.5 },
    { attempts: 11 },
    { signal: {} },
    { attempt: 2 },
  ]) {
    await t.throwsAsync(
      balancer.run(work, options as object),
      { instanceOf: OptionError },
      JSON.stringify(options),
    )
  }
  // @ts-expect-error: an id is no URL
  await t.throwsAsync(balancer.run(fetch))
})

test('threads that attach retry too, each within a budget of its own', async (t) => {
  const balancer = inTurn()
  t.teardown(() => balancer.close())
  const file = moduleFile(
    t,
    `
    import { parentPort, workerData } from 'node:worker_threads'
    import { attachBalancer } from 'idlest'
    const attached = attachBalancer(workerData)
    const seen = []
    const result = await attached.run((node, { attempt }) => {
      seen.push(node)
      if (attempt === 1) throw new Error('first')
      return 'done'
    }, { attempts: 2 })
    parentPort.postMessage({ result, different: seen[0] !== seen[1], retries: attached.stats().retries })
    attached.close()`,
  )
  const worker = new Worker(file, { workerData: balancer.handle() })
  const [message] = await once(worker, 'message')
  t.deepEqual(message, { result: 'done', different: true, retries: { requests: 1, retries: 1, denied: 0 } })
  t.deepEqual(balancer.stats().retries, { requests: 0, retries: 0, denied: 0 })
})
