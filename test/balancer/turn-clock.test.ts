import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { engines } from '../support/engines.js'
import { moduleFile } from '../support/module-file.js'

const dist = new URL('../../dist/index.js', import.meta.url)

// In a process of its own, since what else runs in this one wakes the event loop. Another thread does so after `ms`.
const asleep = `
  import { Worker } from 'node:worker_threads'
  import { createBalancer, meter } from '${dist}'
  const worker = new Worker(\`
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', (ms) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      parentPort.postMessage('woken')
    })
  \`, { eval: true, execArgv: [] })
  const sleep = (before, after) => new Promise((resolve) => {
    setTimeout(() => {
      before()
      worker.postMessage(20)
      worker.once('message', () => resolve(after()))
    }, 1)
  })
  await sleep(() => {}, () => {})
`

async function print(t: ExecutionContext, script: string): Promise<unknown> {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [moduleFile(t, asleep + script)])
  return JSON.parse(stdout)
}

for (const engine of engines) {
  test(`${engine}: how long a lease took is learned, also where the event loop slept all the while`, async (t) => {
    const cost = await print(
      t,
      `
      const balancer = createBalancer({ nodes: ['a'], poll: false, engine: '${engine}' })
      let lease
      for (let i = 0; i < 5; i++) await sleep(() => { lease = balancer.acquire() }, () => lease.release())
      console.log(balancer.snapshot()[0].cost)
      worker.terminate()
    `,
    )
    // Each took 20 ms at least.
    t.true((cost as number) > 15, String(cost))
  })
}

test('a meter says 0 when its last request has ended, also where the event loop sleeps then', async (t) => {
  const value = await print(
    t,
    `
    const queue = meter({ update: 60_000 })
    console.log(await sleep(() => {
      const arrival = queue.arrive()
      arrival.start()
      arrival.end()
    }, () => queue.value))
    worker.terminate()
  `,
  )
  t.is(value, 0)
})
