import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import type { FromWorker } from '../../dist/poller/protocol.js'

const program = new URL('../../dist/poller/polling-thread.js', import.meta.url)

/** A polling thread in which this runs too, once its program does. */
function threadWith(t: { teardown(run: () => unknown): void }, run: string): Worker {
  const code = `
    const wait = () => {
      if (process.listenerCount('uncaughtException') === 0) setTimeout(wait, 5)
      else { ${run} }
    }
    wait()`
  const worker = new Worker(program, {
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(code)}`],
  })
  t.teardown(() => worker.terminate())
  return worker
}

for (const [what, code] of [
  ['an exception', "setTimeout(() => { throw new Error('out of the blue') })"],
  ['a rejection', "Promise.reject(new Error('out of the blue'))"],
] as const) {
  test(`${what} that nobody catches is said, and the polling thread goes on`, async (t) => {
    const worker = threadWith(t, code)
    const [said] = (await once(worker, 'message')) as [FromWorker]
    t.deepEqual(said, { type: 'fault', reason: 'out of the blue' })
    worker.postMessage(null)
    const [again] = (await once(worker, 'message')) as [FromWorker]
    t.is(again.type, 'fault')
  })
}

test('a message that means nothing is said, and the polling thread goes on', async (t) => {
  const worker = threadWith(t, '')
  for (let i = 0; i < 3; i++) {
    worker.postMessage(null)
    const [said] = (await once(worker, 'message')) as [FromWorker]
    t.is(said.type, 'fault')
  }
})
