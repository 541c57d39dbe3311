// A worker thread that picks once for a balancer of its parent.
import { parentPort, workerData } from 'node:worker_threads'
import { attachBalancer } from '../../../dist/index.js'

const balancer = attachBalancer(workerData.handle)
const lease = balancer.acquire()
lease.release()
parentPort.postMessage([['a', 'b'].includes(lease.node), balancer.engine])
