import type { Worker } from 'node:worker_threads'
import test from 'ava'
import { processClock } from '../../dist/process-clock.js'
import { httpPoller, idOf, readingOf, reporting, serve } from './agents.js'

// Alone in its process: it counts what the process has open.

let threads = 0
let started = 0
process.on('worker', (worker: Worker) => {
  threads++
  started++
  worker.once('exit', () => threads--)
})

for (const [where, clock, pollers] of [
  ['in the polling thread', processClock, 200],
  ['on this thread', { ...processClock }, 200],
] as const) {
  test.serial(`${pollers} pollers ${where}, started and closed at any moment, leave no handle`, async (t) => {
    const server = await serve(t, reporting(7))
    const resources = async () => {
      // What was closed is gone in a later turn.
      await new Promise((resolve) => setTimeout(resolve, 100))
      return process.getActiveResourcesInfo().sort()
    }
    const run = async (turn: number) => {
      const { table, poller } = httpPoller(t, { clock })
      poller.setMembers([table.claim(idOf(server))])
      poller.start()
      if (turn % 20 === 0) {
        await poller.ready
        t.is(readingOf(table, idOf(server))?.cpu, 7)
      } else if (turn % 2 === 0) await new Promise((resolve) => setTimeout(resolve, turn % 10))
      await poller.close()
    }
    await run(0)
    const before = await resources()
    // From Node.js 22 on, the loader of these tests has a thread too.
    const others = threads
    for (let turn = 1; turn < pollers; turn++) await run(turn)
    t.deepEqual(await resources(), before)
    const connections = await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
    t.is(connections, 0)
    t.is(threads, others)
    t.true(started > 0)
  })
}
