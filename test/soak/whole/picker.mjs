// A worker thread that picks for a balancer of its parent. Told to end, it lets go of all and says what it counted.
import { parentPort, workerData } from 'node:worker_threads'
import { attachBalancer } from '../../../dist/index.js'

const balancer = attachBalancer(workerData.handle)
const leases = []
const made = { picks: 0, none: 0, leases: 0, failed: 0 }

function release(lease) {
  const ok = Math.random() < 0.95
  if (!ok) made.failed++
  lease.release({ ok, latency: Math.random() * 20 })
}

const timer = setInterval(() => {
  for (let i = 0; i < workerData.picks; i++) {
    if (balancer.trySelect() === undefined) made.none++
    else made.picks++
  }
  for (let i = 0; i < workerData.leases; i++) {
    try {
      leases.push(balancer.acquire())
      made.picks++
      made.leases++
    } catch {
      made.none++
    }
    if (leases.length > 30) release(leases.shift())
  }
}, 10)

parentPort.on('message', (message) => {
  if (message === 'count') {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    parentPort.postMessage({ kind: 'counted', made: { ...made }, used: heapUsed + external })
    return
  }
  clearInterval(timer)
  for (const lease of leases.splice(0)) release(lease)
  const { picks, leases: counted } = balancer.stats()
  balancer.close()
  parentPort.postMessage({ kind: 'ended', made, picks, counted })
  parentPort.close()
})
parentPort.postMessage({ kind: 'picking' })
