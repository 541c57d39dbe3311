// Picks in two worker threads at once, one of them by a balancer of the main thread, and says by which engines.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { attachBalancer, createBalancer, select } from 'idlest'

if (isMainThread) {
  const balancer = createBalancer({ name: 'shared', nodes: ['a', 'b'], poll: false })
  balancer.report('a', { cpu: 90 })
  balancer.report('b', { cpu: 10 })
  const file = fileURLToPath(import.meta.url)
  const said = await Promise.all(
    [balancer.handle(), undefined].map(async (handle) => {
      const [answer] = await once(new Worker(file, { workerData: { handle } }), 'message')
      return answer
    }),
  )
  console.log(JSON.stringify(said))
  await balancer.close()
} else if (workerData.handle === undefined) {
  parentPort.postMessage({ picked: select(['a', 'b']) })
} else {
  const attached = attachBalancer(workerData.handle)
  parentPort.postMessage({ engine: attached.engine, picked: attached.select() })
}
