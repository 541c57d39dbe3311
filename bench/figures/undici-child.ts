// Measures senders of undici over the same servers: `undici-child.ts SETTINGS`. They take turns, in another order each round.
import { setTimeout } from 'node:timers/promises'
import { Agent, BalancedPool, type Dispatcher, RoundRobinPool } from 'undici'
import { adaptive, createBalancer, roundRobin } from '../../dist/index.js'
import { BalancedDispatcher } from '../../dist/integrations/undici/index.js'
import { Chance } from '../chance.js'
import { median } from '../statistics.js'
import { firstMessage, startChild } from './child.js'
import { SENDERS, type Sender, type SenderFindings, type UndiciSettings } from './undici.js'

const SERVERS = 4
/** Requests at once where throughput is measured. */
const AT_ONCE = 64
/** Requests a second where one server is busy: it takes 17, and the others 33 each. A turn of 15 is nine tenths of the 17. */
const RATE = 60

interface Measured {
  readonly throughput: number[]
  readonly cpu: number[]
  readonly times: number[]
}

const settings = JSON.parse(process.argv[2] ?? '') as UndiciSettings
// Each a process: with one for all, a server that gets more is no slower than one that gets less.
const servers = Array.from({ length: SERVERS }, (_, i) =>
  startChild(new URL('./undici-server.ts', import.meta.url), [`${i}`]),
)
const ports = (await Promise.all(servers.map(firstMessage))) as number[]
const nodes = ports.map((port) => `127.0.0.1:${port}`)
const chance = new Chance(1)

const measured = new Map<Sender, Measured>(
  SENDERS.map((sender) => [sender, { throughput: [], cpu: [], times: [] }]),
)
await eachRound(settings.rounds, true, async (send, into) => {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await atOnce(send, settings.requests)
  const { user, system } = process.cpuUsage(cpu)
  into.throughput.push((settings.requests / (performance.now() - start)) * 1_000)
  into.cpu.push((user + system) / settings.requests)
})
await eachRound(settings.busyRounds, false, async (send, into) => {
  await byRate(send, settings.busyRequests, into.times)
})
process.send?.(SENDERS.map(findingsOf))
for (const server of servers) server.disconnect()
process.disconnect()

type Send = (path: string) => Promise<void>

// Senders keep their connections and what they have learned between rounds; the first round warms up.
async function eachRound(
  rounds: number,
  warmUp: boolean,
  measure: (send: Send, into: Measured) => Promise<void>,
): Promise<void> {
  const senders = SENDERS.map((sender) => ({ ...senderOf(sender), into: measured.get(sender) as Measured }))
  for (let round = warmUp ? -1 : 0; round < rounds; round++) {
    const order = chance.shuffle([...senders])
    for (const { send, into } of order) {
      await measure(send, round < 0 ? { throughput: [], cpu: [], times: [] } : into)
    }
  }
  for (const { close } of senders) await close()
}

async function atOnce(send: Send, requests: number): Promise<void> {
  let left = requests
  const caller = async () => {
    while (left-- > 0) await send('/')
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
}

// Requests come by chance, whatever becomes of those before them.
async function byRate(send: Send, requests: number, times: number[]): Promise<void> {
  const pending: Promise<void>[] = []
  let due = performance.now()
  for (let i = 0; i < requests; i++) {
    due += (chance.exponential() / RATE) * 1_000
    const wait = due - performance.now()
    if (wait > 0) await setTimeout(wait)
    // From when it was due, not from when this process got to it.
    const start = due
    pending.push(send('/work').then(() => void times.push(performance.now() - start)))
  }
  await Promise.all(pending)
}

function senderOf(sender: Sender): { send: Send; close: () => Promise<unknown> } {
  const origins = nodes.map((node) => `http://${node}`)
  let turn = 0
  const next = () => turn++ % origins.length
  switch (sender) {
    case 'BalancedDispatcher, adaptive()':
    case 'BalancedDispatcher, roundRobin()': {
      const algorithm = sender.includes('adaptive') ? adaptive() : roundRobin()
      const balancer = createBalancer({ nodes, poll: false, algorithm })
      const dispatcher = new BalancedDispatcher(balancer)
      return {
        send: (path) => ask(dispatcher, path),
        close: () => dispatcher.close().then(() => balancer.close()),
      }
    }
    case 'BalancedPool': {
      const pool = new BalancedPool(origins)
      return { send: (path) => ask(pool, path), close: () => pool.close() }
    }
    case 'RoundRobinPool, one a server in turn': {
      const pools = origins.map((origin) => new RoundRobinPool(origin))
      return {
        send: (path) => ask(pools[next()] as RoundRobinPool, path),
        close: () => Promise.all(pools.map((pool) => pool.close())),
      }
    }
    case 'Agent, servers in turn': {
      const agent = new Agent()
      return { send: (path) => ask(agent, path, origins[next()]), close: () => agent.close() }
    }
  }
}

async function ask(dispatcher: Dispatcher, path: string, origin?: string): Promise<void> {
  const { body } = await dispatcher.request({ path, method: 'GET', ...(origin !== undefined && { origin }) })
  await body.dump()
}

function findingsOf(sender: Sender): SenderFindings {
  const { throughput, cpu, times } = measured.get(sender) as Measured
  const to = (other: Sender): number => {
    const theirs = (measured.get(other) as Measured).throughput
    return median(throughput.map((ours, round) => ours / (theirs[round] as number)))
  }
  return {
    sender,
    throughput: median(throughput),
    cpu: median(cpu),
    toBalancedPool: to('BalancedPool'),
    toRoundRobinPool: to('RoundRobinPool, one a server in turn'),
    times,
  }
}
