// Runs one example, to its end or for as long as it is let: here, or in a thread where it is written for one.
import { once } from 'node:events'
import { isMainThread, Worker } from 'node:worker_threads'
import { createBalancer } from 'idlest'

const [, , example = '', place = ''] = process.argv

async function inThread(): Promise<void> {
  const balancer = createBalancer({ nodes: ['worker-1', 'worker-2', 'worker-3'], poll: false })
  const worker = new Worker(new URL(import.meta.url), {
    argv: [example],
    workerData: { handle: balancer.handle() },
  })
  worker.postMessage({ job: 'job 1', sent: Date.now() })
  const [code] = await once(worker, 'exit')
  if (code !== 0) process.exit(1)
}

if (isMainThread && place === 'worker') {
  await inThread()
} else {
  await import('./stand-ins.mjs')
  await import(`./${example}.mjs`)
}
process.exit(0)
