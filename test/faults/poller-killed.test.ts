import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import workerThreads, { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { createBalancer, httpTransport, leastCpu } from '../../dist/index.js'
import { until } from './mortal-nodes.js'

/** The threads that poll, as they are started. */
function pollers(t: ExecutionContext): Worker[] {
  const threads: Worker[] = []
  class Watched extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      if (args[1]?.name === 'idlest-poll') threads.push(this)
    }
  }
  workerThreads.Worker = Watched
  syncBuiltinESMExports()
  t.teardown(() => {
    workerThreads.Worker = Worker
    syncBuiltinESMExports()
  })
  return threads
}

test('where the polling thread is killed, picks go on, and another one takes over, as often as that is', async (t) => {
  const threads = pollers(t)
  const restarts: unknown[] = []
  const listener = (event: unknown) => restarts.push(event)
  subscribe('idlest:worker:restart', listener)
  t.teardown(() => unsubscribe('idlest:worker:restart', listener))
  const loads = [0.1, 0.9]
  const ids = await Promise.all(
    loads.map(async (_, i) => {
      const server = createServer((_, response) => response.end(`{"cpu_utilization":${loads[i]}}`))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.teardown(() => {
        server.close()
        server.closeAllConnections()
      })
      return `127.0.0.1:${(server.address() as AddressInfo).port}`
    }),
  )
  const balancer = createBalancer({
    nodes: ids,
    // As long as the machine may be busy with something else.
    algorithm: leastCpu({ ttl: 600_000 }),
    poll: { transport: httpTransport(), interval: 20, timeout: 30_000, startupJitter: 0 },
  })
  t.teardown(() => balancer.close())
  const isKnown = () => balancer.snapshot().every(({ cpu }, i) => cpu === (loads[i] ?? 0) * 100)
  const idlest = () => ids[loads.indexOf(Math.min(...loads))] ?? ''
  await until(isKnown)
  await balancer.ready()
  for (const times of [1, 2, 3]) {
    await threads.at(-1)?.terminate()
    // Of what was heard until then picks are made while nobody hears.
    t.is(balancer.select(), idlest())
    loads.reverse()
    await until(isKnown)
    // The cycle that heard it has published it.
    await until(() => balancer.select() === idlest())
    t.is(threads.length, 1 + times)
    t.is(restarts.length, times)
  }
  t.like(restarts[0], { restarts: 1 })
})
