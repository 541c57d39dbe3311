import test, { type ExecutionContext } from 'ava'
import type { Tally } from '../../../dist/poller/answer.js'
import type { Table } from '../../../dist/table/table.js'
import { pem } from '../../agent/support.js'
import { httpPoller, readingOf } from '../agents.js'
import { EXPIRED, type Fault, type FaultedTransport } from './faults.js'

const RIGHT = [10, 40, 90]
const INTERVAL = 20
const TIMEOUT = 400

// Table time of the sample that a node's reading has.
function sampled(table: Table, id: string): number {
  return table.now() - (readingOf(table, id)?.age ?? Number.NaN)
}

// Resolves at the end of a cycle that is as it should be. On a busy machine others may come before: those are shown.
function cycles(t: ExecutionContext) {
  let waiting: { want: (tally: Tally) => boolean; resolve: () => void } | undefined
  return {
    onCycle: (tally: Tally) => {
      if (waiting === undefined) return
      if (waiting.want(tally)) waiting.resolve()
      else t.log(JSON.stringify(tally))
    },
    until: (want: (tally: Tally) => boolean) =>
      new Promise<void>((resolve) => {
        waiting = { want, resolve }
      }),
  }
}

async function meets(t: ExecutionContext, faulted: FaultedTransport, fault: Fault): Promise<void> {
  const tls = fault === EXPIRED
  const [right, faulty] = await Promise.all([
    Promise.all(RIGHT.map((cpu) => faulted.start(t, cpu, tls))),
    faulted.start(t, 70, tls),
  ])
  const { onCycle, until } = cycles(t)
  const { table, poller } = httpPoller(t, {
    name: `${faulted.name}, ${fault}`,
    transport: faulted.transport(tls ? { ca: pem('ca') } : undefined),
    interval: INTERVAL,
    timeout: TIMEOUT,
    onCycle,
  })
  const all = [...right, faulty]
  poller.setMembers(all.map(({ id }) => table.claim(id)))
  poller.start()
  await until(({ stored }) => stored === all.length)
  t.deepEqual(
    all.map(({ id }) => Math.round(readingOf(table, id)?.cpu ?? -1)),
    [...RIGHT, 70],
  )

  await faulty.break(fault)
  // In one and the same cycle it is counted, alone, and all the others' readings arrive.
  const counted = ({ asked, stored, heard, empty, failed }: Tally) => {
    const failing = failed.every(({ node }) => node === faulty.id) ? failed.length : -1
    return asked === all.length && stored === right.length && failing + heard + empty === 1
  }
  await until(counted)
  const stale = sampled(table, faulty.id)
  const before = right.map(({ id }) => sampled(table, id))
  await until(counted)
  // Its reading is the one it had, and grows old; the others' are new.
  t.true(Math.abs(sampled(table, faulty.id) - stale) <= 1)
  t.true(right.every(({ id }, index) => sampled(table, id) > (before[index] ?? Number.NaN)))

  // The port may be somebody else's by now.
  if (fault === 'refuses') return
  await faulty.mend()
  await until(({ stored }) => stored === all.length)
}

/** Registers a test for each fault that nodes of this transport may have. */
export function faultTable(faulted: FaultedTransport): void {
  for (const fault of faulted.faults) {
    test(`${faulted.name}: a node that ${fault} is counted and goes stale; all others are read in the same cycle`, (t) =>
      meets(t, faulted, fault))
  }
}
