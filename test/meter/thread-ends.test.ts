import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { type Balancer, createBalancer, createTable, powerOfTwo } from '../../dist/index.js'
import { engines } from '../support/engines.js'

// More than an idle thread says on any machine, and less than full.
const BUSY = 4_000
// On a busy machine a thread that looks at itself more often says that it is busy.
const CALM = 60_000

/** A balancer whose node `other` has a long queue: it is picked where `worker` is not known. */
function newBalancer(t: ExecutionContext, engine: 'native' | 'portable', ttl = 60_000): Balancer<string> {
  const balancer = createBalancer({
    nodes: ['worker', 'other'],
    algorithm: powerOfTwo({ metric: 'queueDelay', ttl }),
    table: createTable(),
    poll: false,
    engine,
  })
  t.teardown(() => balancer.close())
  return balancer
}

function picks(balancer: Balancer<string>): Set<string> {
  balancer.report('other', { queueDelay: BUSY })
  return new Set(Array.from({ length: 40 }, () => balancer.select()))
}

async function start(t: ExecutionContext, balancer: Balancer<string>, update = 100) {
  const worker = new Worker(new URL('../fixtures/metered.mjs', import.meta.url), {
    workerData: { handle: balancer.handle(), update },
  })
  t.teardown(() => worker.terminate())
  await once(worker, 'message')
  const tell = (order: string, argument?: unknown) => worker.postMessage({ order, argument })
  return {
    worker,
    tell,
    ask: async (order: string, argument?: unknown): Promise<unknown> => {
      tell(order, argument)
      return (await once(worker, 'message'))[0]
    },
  }
}

for (const engine of engines) {
  test(`${engine}: the next pick sees what a worker thread measured, without any polling`, async (t) => {
    const balancer = newBalancer(t, engine, 2 * CALM)
    const { ask } = await start(t, balancer, CALM)
    t.deepEqual(picks(balancer), new Set(['other']), 'unknown loses')
    t.is(await ask('meter', 'worker'), 'queueDelay')
    t.deepEqual(picks(balancer), new Set(['other']), 'full until it has shown itself')
    t.true(await ask('record', 1))
    t.deepEqual(picks(balancer), new Set(['worker']))
  })

  test(`${engine}: a second thread is refused, and may have the node once the first lets go of it`, async (t) => {
    const balancer = newBalancer(t, engine)
    const [one, two] = [await start(t, balancer), await start(t, balancer)]
    await one.ask('meter', 'worker')
    t.deepEqual(await two.ask('meter', 'worker'), { code: 'IDLEST_NODE_TAKEN' })
    t.true(await one.ask('close'))
    t.deepEqual(picks(balancer), new Set(['other']))
    t.is(await two.ask('meter', 'worker'), 'queueDelay')
    t.false(await one.ask('record', 1))
  })

  for (const how of ['end', 'exit']) {
    test(`${engine}: a thread that ends by ${how} is unknown at once, and its node free`, async (t) => {
      const balancer = newBalancer(t, engine, 2 * CALM)
      const { worker, ask, tell } = await start(t, balancer, CALM)
      await ask('meter', 'worker')
      await ask('record', 1)
      t.deepEqual(picks(balancer), new Set(['worker']))
      tell(how)
      await once(worker, 'exit')
      t.deepEqual(picks(balancer), new Set(['other']))
      const next = await start(t, balancer, CALM)
      t.is(await next.ask('meter', 'worker'), 'queueDelay')
    })
  }

  for (const how of ['hang', 'terminate']) {
    test(`${engine}: a thread that ${how}s is unknown after the ttl, and may then be replaced`, async (t) => {
      const balancer = newBalancer(t, engine, 2_500)
      const { worker, ask, tell } = await start(t, balancer)
      await ask('meter', 'worker')
      // Again where so much time passed between the two that it has expired, or the thread saw itself stand still.
      do await ask('record', 1)
      while (picks(balancer).has('other'))
      if (how === 'hang') tell('hang')
      else await worker.terminate()
      const next = await start(t, balancer)
      while ([...picks(balancer)].includes('worker')) await delay(50)
      t.deepEqual(picks(balancer), new Set(['other']))
      let answer: unknown
      for (let i = 0; i < 100 && answer !== 'queueDelay'; i++) {
        answer = await next.ask('meter', 'worker')
        await delay(50)
      }
      t.is(answer, 'queueDelay')
      do await next.ask('record', 1)
      while (picks(balancer).has('other'))
    })
  }
}
