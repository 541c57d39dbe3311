// The process that is soaked, run with --expose-gc: balancers of many kinds, picked from on this thread and on others, while
// nodes, threads and another process fail.
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import {
  adaptive,
  type BalancerStats,
  createBalancer,
  createTable,
  eventDiscovery,
  httpTransport,
} from '../../../dist/index.js'
import { BasicLane } from './parts/basic.js'
import { Faults, POLLS } from './parts/faults.js'
import { FoundLane } from './parts/found.js'
import { faultyLanes, probedLane, streamedLane } from './parts/lanes.js'
import { Membership } from './parts/membership.js'
import type { Part } from './parts/part.js'
import { ReportedLane } from './parts/reported.js'
import { SharedLane } from './parts/shared.js'
import { Threads } from './parts/threads.js'
import type { FromSoaked, Look, SoakedOutcome, Task, ToSoaked } from './words.js'

/** Between two turns of work, and between two looks, ms. */
const TURN = 20
const LOOK = 15_000
/** Reports that a killed polling thread may have had, and those that nodes sent until the next one was there. */
const LOST_WITH_A_THREAD = 60

/** Probes that may be under way at once. */
const MOST_PROBES = 16

const say = (message: FromSoaked) => process.send?.(message)
const collect = globalThis.gc ?? (() => {})
const [task] = (await once(process, 'message')) as [Task]
const began = performance.now()

const own = new Set<Worker>()
const faults = new Faults(own)
const http = task.agents.map((agent) => `127.0.0.1:${agent.http}`)
const membership = new Membership(http)
const discovery = eventDiscovery<string>(membership.events(), { name: 'churned' })
membership.discovery = discovery
const table = createTable()
const churned = createBalancer({
  name: 'churned',
  nodes: discovery,
  table,
  algorithm: adaptive(),
  poll: { transport: httpTransport(), ...POLLS },
})
const churnedLane = new BasicLane(churned, table, { picks: 500, leases: 3 })
await churned.ready()
const threads = new Threads(() => churned.handle(), own)
const reported = new ReportedLane()
const steady = streamedLane(
  'steady',
  task.agents.filter((agent) => agent.steady),
)
const lanes = [
  churnedLane,
  ...faultyLanes(task),
  probedLane(task.agents),
  streamedLane(
    'streamed',
    task.agents.filter((agent) => !agent.steady),
  ),
  steady,
  new SharedLane(task.file, http),
  await FoundLane.start(),
  reported,
]
const parts: readonly Part[] = [faults, membership, threads, ...lanes]
const statsOf = (): BalancerStats[] => lanes.map(({ balancer }) => balancer.stats())
const sumOf = <T>(list: readonly T[], of: (one: T) => number) => list.reduce((sum, one) => sum + of(one), 0)

// Sockets are files, on systems that show them.
function openFiles(): number {
  return existsSync('/dev/fd') ? readdirSync('/dev/fd').length : 0
}

async function look(): Promise<Look> {
  await threads.count()
  const polling = await faults.used()
  const stats = statsOf()
  // What is reachable: several rounds, since finalizers let go of more.
  for (let round = 0; round < 4; round++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { rss, heapUsed: heap, external } = process.memoryUsage()
  return {
    at: performance.now() - began,
    rss,
    heap,
    external,
    threads: threads.used,
    polling,
    used: heap + external + threads.used + polling,
    picks: sumOf(parts, ({ made }) => made.picks),
    leases: sumOf(parts, ({ made }) => made.leases),
    polls: sumOf(stats, ({ poll }) => poll?.asked ?? 0),
    reports:
      sumOf(stats, ({ poll }) => (poll?.stored ?? 0) + sumOf(Object.values(poll?.pushed ?? {}), Number)) +
      reported.reports,
    changes: discovery.stats().changes,
    open: openFiles(),
  }
}

const work = setInterval(() => {
  for (const part of parts) part.turn?.()
}, TURN)
let looking: Promise<void> = Promise.resolve()
const lookOnce = () => {
  looking = looking.then(look).then((seen) => {
    say({ kind: 'look', look: seen })
  })
}
const looks = setInterval(lookOnce, LOOK)

say({ kind: 'started' })
await once(process, 'message')
clearInterval(work)
clearInterval(looks)
lookOnce()
await looking
await Promise.all(parts.map((part) => part.settle()))
const { pushed } = steady.balancer.stats().poll ?? {}
await Promise.all(parts.map((part) => part.close()))
say({ kind: 'quiet' })
const [{ sent }] = (await once(process, 'message')) as [Extract<ToSoaked, { kind: 'sent' }>]

const stats = statsOf()
const polls = stats.flatMap(({ poll }) => poll ?? [])
const outcome: SoakedOutcome = {
  balances: [
    ...parts.flatMap((part) => part.balances()),
    {
      what: 'reports of the steady agents on their streams',
      counted: sumOf(Object.values(pushed ?? {}), Number),
      made: sent,
      slack: LOST_WITH_A_THREAD * (faults.killed + 1),
    },
    {
      what: 'warnings of polls',
      counted: faults.warned('IDLEST_POLL_EXIT') + faults.warned('IDLEST_POLL_ERROR'),
      made: sumOf(polls, ({ warned }) => warned),
    },
    ...stats.flatMap(({ name, probes }) =>
      probes === undefined
        ? []
        : {
            what: `${name}: probes answered or failed`,
            counted: probes.answered + probes.failed,
            made: probes.sent,
            // Those under way at the end.
            slack: MOST_PROBES,
          },
    ),
    {
      what: 'warnings of responses',
      counted: faults.warned('IDLEST_REPORT_ERROR'),
      made: sumOf(stats, ({ inBand }) => inBand.warned),
    },
  ],
  totals: {
    picks: sumOf(parts, ({ made }) => made.picks),
    'picks of nobody': sumOf(parts, ({ made }) => made.none),
    leases: sumOf(parts, ({ made }) => made.leases),
    'polls begun': sumOf(polls, ({ asked }) => asked),
    'polls failed': sumOf(polls, ({ exit, error }) => exit + error),
    'reports pushed': sumOf(polls, (poll) => sumOf(Object.values(poll.pushed), Number)),
    'reports given': reported.reports,
    probes: sumOf(stats, ({ probes }) => probes?.sent ?? 0),
    'changes of members': discovery.stats().changes,
    ejections: sumOf(stats, ({ health }) => health.ejections),
    'polling threads killed': faults.killed,
    'picking threads terminated': threads.terminated,
  },
}
say({ kind: 'outcome', outcome })
// What keeps the process from here on is a fault.
process.disconnect()
