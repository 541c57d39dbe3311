// A worker thread that does the jobs it is sent, one after the other. Plain JavaScript: eight compilers would take longer to
// start than all the jobs. What goes in and out is in waits-protocol.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { attachBalancer } from '../../dist/index.js'
import { processClock } from '../../dist/process-clock.js'

const { handle, node, slowness } = workerData
const queue = attachBalancer(handle).meter(node)
const nobody = new Int32Array(new SharedArrayBuffer(4))

// A job blocks its thread without using a core: so what is measured are the picks, not how many cores there are.
parentPort.on('message', ({ at, work }) => {
  const wait = processClock.now() - at
  const arrival = queue.arrive(wait)
  arrival.start()
  Atomics.wait(nobody, 0, 0, work * slowness)
  arrival.end()
  parentPort.postMessage({ wait })
})
parentPort.postMessage('ready')
