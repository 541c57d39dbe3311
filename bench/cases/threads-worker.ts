import { parentPort, workerData } from 'node:worker_threads'
import { type AttachedBalancer, attachBalancer } from '../../dist/index.js'
import { median } from '../statistics.js'
import {
  CHUNK,
  CHUNKS_A_RUN,
  COMMAND,
  DONE,
  END,
  RESULTS_PER_THREAD,
  type ThreadData,
} from './threads-protocol.js'

const { thread, handles, control, results } = workerData as ThreadData
const balancers = handles.map((handle) => attachBalancer(handle, { seed: thread }))
let sum = 0

function run(balancer: AttachedBalancer): void {
  const times: number[] = []
  const start = performance.now()
  for (let chunk = 0; chunk < CHUNKS_A_RUN; chunk++) {
    const before = performance.now()
    for (let i = 0; i < CHUNK; i++) sum += balancer.select().length
    times.push(performance.now() - before)
  }
  const ms = performance.now() - start
  results[thread * RESULTS_PER_THREAD] = (median(times) * 1e6) / CHUNK
  results[thread * RESULTS_PER_THREAD + 1] = (CHUNK * CHUNKS_A_RUN * 1000) / ms
}

parentPort?.postMessage('ready')
let last = 0
for (;;) {
  Atomics.wait(control, COMMAND, last)
  last = Atomics.load(control, COMMAND)
  if (last === END) break
  const threads = last & 255
  if (thread >= threads) continue
  run(balancers[(last >>> 8) & 255] as AttachedBalancer)
  Atomics.add(control, DONE, 1)
  Atomics.notify(control, DONE)
}
for (const balancer of balancers) balancer.close()
if (Number.isNaN(sum)) throw new Error('picks that have no length')
