import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { originOf, processClock } from '../dist/process-clock.js'

test('a thread that is held up between two clocks counts from the same time as the others', (t) => {
  // Both go on by as much at each look; the shared one is 1,000 ms ahead. All looks but the fourth are held up.
  let time = 0
  let looks = 0
  const shared = () => {
    time += looks === 3 || looks === 4 ? 0.001 : 40
    return time + 1_000
  }
  const own = () => {
    looks++
    time += looks === 4 ? 0.001 : 25
    return time
  }
  const origin = originOf(shared, own)
  t.true(Math.abs(origin - 1_000) < 0.01, String(origin))
})

test('clocks that stand still give what is between them', (t) => {
  t.is(
    originOf(
      () => 500,
      () => 20,
    ),
    480,
  )
})

test('a thread that starts later tells the same time', async (t) => {
  const clock = new URL('../dist/process-clock.js', import.meta.url).href
  const source = `const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(clock)}).then(({ processClock }) =>
      parentPort.on('message', () => parentPort.postMessage(processClock.now())))`
  const worker = new Worker(source, { eval: true })
  t.teardown(() => worker.terminate())
  // The first answer comes when the thread has started, long after this one.
  worker.postMessage('')
  await once(worker, 'message')
  const before = processClock.now()
  worker.postMessage('')
  const [told] = await once(worker, 'message')
  const after = processClock.now()
  // Each thread finds its origin to within a fraction of a millisecond.
  t.true(before - 1 <= told && told <= after + 1, `${before} <= ${told} <= ${after}`)
})
