import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { createBalancer, powerOfTwo } from '../../dist/index.js'
import { engines } from '../support/engines.js'

for (const engine of engines) {
  test(`${engine}: picks that do not compare keep each thread to a node of its own`, async (t) => {
    const nodes = Array.from({ length: 5 }, (_, i) => `${engine}-worker-choice-${i}`)
    const algorithm = powerOfTwo({ metric: 'cpu', choiceRate: 0, otherwise: 'worker' })
    const balancer = createBalancer({ nodes, algorithm, poll: false, engine })
    const own = (thread: number, among = nodes) => among[thread % among.length]
    for (let i = 0; i < 3; i++) {
      const worker = new Worker(new URL('../fixtures/attached-picker.mjs', import.meta.url), {
        workerData: { handle: balancer.handle(), seed: i },
      })
      const { threadId } = worker
      await once(worker, 'message')
      worker.postMessage({ order: 'pick', argument: 20 })
      const [picked] = await once(worker, 'message')
      t.deepEqual(picked, new Array(20).fill(own(threadId)))
      worker.postMessage({ order: 'pickFrom', argument: ['x', 'y', 'z'] })
      const [from] = await once(worker, 'message')
      t.is(from, own(threadId, ['x', 'y', 'z']))
      await worker.terminate()
    }
    await balancer.close()
  })
}
