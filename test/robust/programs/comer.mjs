// A worker thread that picks for a balancer of its parent, with leases that it keeps for a while, until it is ended.
import { parentPort, workerData } from 'node:worker_threads'
import { attachBalancer } from '../../../dist/index.js'

const { handle, engine, end } = workerData
const balancer = attachBalancer(handle, { engine })
const block = new Uint32Array(256)
const leases = []
let rounds = 0

function turn() {
  for (let i = 0; i < 50; i++) {
    leases.push(balancer.acquire())
    if (leases.length > 20) leases.shift().release({ ok: i % 7 !== 0 })
    balancer.select()
    if (balancer.fill(block) !== block.length) throw new Error('a block was not filled')
    if (block.some((index) => index >= balancer.nodes.length)) throw new Error('a pick out of range')
  }
  if (rounds++ === 0) parentPort.postMessage('picking')
  if (end === 'exit' && rounds === 3) process.exit(7)
  if (end === 'throw' && rounds === 3) throw new Error('on purpose')
  // Its event loop has nothing left; its leases are open.
  if (end === 'return' && rounds === 3) return
  setImmediate(turn)
}

turn()
