import test from 'ava'
import {
  type Algorithm,
  adaptive,
  createBalancer,
  leastConnections,
  random,
  roundRobin,
} from '../../dist/index.js'
import { ask, startNodes, until } from './mortal-nodes.js'

const CLIENTS = 8
const FAILURES = 5

const algorithms: readonly Algorithm[] = [random(), roundRobin(), leastConnections(), adaptive()]

for (const algorithm of algorithms) {
  test.serial(
    `${algorithm.kind}: of a node that is killed under load only what is under way fails, and it is picked no more`,
    async (t) => {
      const servers = await startNodes(t, 4)
      const [victim] = servers
      if (victim === undefined) return t.fail()
      const balancer = createBalancer({
        nodes: servers.map(({ id }) => id),
        algorithm,
        poll: false,
        health: { consecutiveFailures: FAILURES, ejection: 600_000, maxEjection: 600_000 },
      })
      t.teardown(() => balancer.close())
      const inFlight = () => balancer.snapshot().find(({ id }) => id === victim.id)?.inFlight ?? 0
      const failed: string[] = []
      let [picked, pickedAfter, served, ended] = [0, 0, 0, false]
      const client = async () => {
        while (!ended) {
          try {
            await balancer.run((node) => {
              if (node === victim.id) {
                picked++
                if (failed.length > 0) pickedAfter++
              }
              // What fails is counted as the balancer learns of it.
              return ask(node).catch((error) => {
                failed.push(node)
                throw error
              })
            })
            served++
          } catch {
            // It has been counted.
          }
        }
      }
      const clients = Array.from({ length: CLIENTS }, client)
      await until(() => picked >= 20)
      t.deepEqual(failed, [])
      victim.hang()
      await until(() => inFlight() > 0)
      await victim.kill()
      const servedThen = served
      await until(() => served >= servedThen + 400)
      ended = true
      await Promise.all(clients)
      t.true(failed.length >= 1)
      t.true(failed.every((node) => node === victim.id))
      // It is out at the fifth failure in a row, when its other clients may have picked it already.
      t.true(pickedAfter <= FAILURES - 1 + CLIENTS, `${pickedAfter} picks after the first failure`)
      t.is(inFlight(), 0)
      t.true(balancer.stats().health.ejections <= 1)
      return undefined
    },
  )
}

test.serial('who tries another node when one fails loses no request as a node is killed', async (t) => {
  const servers = await startNodes(t, 3)
  const [victim] = servers
  const balancer = createBalancer({ nodes: servers.map(({ id }) => id), poll: false })
  t.teardown(() => balancer.close())
  const leased = async (exclude: readonly string[] = []): Promise<string> => {
    const lease = balancer.acquire({ exclude: [...exclude] })
    try {
      const answer = await ask(lease.node)
      lease.release()
      return answer
    } catch (error) {
      lease.release({ ok: false })
      if (exclude.length > 0) throw error
      return leased([lease.node])
    }
  }
  const answers: string[] = []
  const client = async () => {
    for (let i = 0; i < 100; i++) answers.push(await leased())
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  await until(() => answers.length >= 100)
  await victim?.kill()
  await clients
  t.is(answers.length, 100 * CLIENTS)
  t.true(answers.every((answer) => answer === 'served'))
  t.true(balancer.snapshot().every(({ inFlight }) => inFlight === 0))
})
