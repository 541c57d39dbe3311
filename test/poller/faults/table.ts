import test, { type ExecutionContext } from 'ava'
import type { Tally } from '../../../dist/poller/answer.js'
import { pem } from '../../agent/support.js'
import { httpPoller, readingOf, sampledAt } from '../agents.js'
import { EXPIRED, type Fault, type FaultedTransport, TELLS_NOTHING } from './faults.js'

const RIGHT = [10, 40, 90]
const INTERVAL = 20
const TIMEOUT = 400

// What a stream says that has ended, until it is found out what is wrong; with these that takes its time.
const LOST = 'the connection was lost'
const HANGS: readonly Fault[] = ['accepts and never answers', 'answers byte by byte']

// Resolves at the end of a cycle that is as it should be. On a busy machine others may come before: those are shown.
function cycles(t: ExecutionContext, shown: boolean) {
  let waiting: { want: (tally: Tally) => boolean; resolve: () => void } | undefined
  return {
    onCycle: (tally: Tally) => {
      if (waiting === undefined) return
      if (waiting.want(tally)) waiting.resolve()
      else if (shown) t.log(JSON.stringify(tally))
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
  // Who tells unasked is not found out within a cycle.
  const { onCycle, until } = cycles(t, !faulted.unasked)
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
  const whole = ({ stored, heard }: Tally) => (faulted.unasked ? heard : stored) === all.length
  await until(whole)
  t.deepEqual(
    all.map(({ id }) => Math.round(readingOf(table, id)?.cpu ?? -1)),
    [...RIGHT, 70],
  )

  await faulty.break(fault)
  // In one and the same cycle it is counted, alone, and all the others' readings arrive.
  const counted = ({ asked, stored, heard, empty, failed }: Tally) => {
    const failing = failed.every(({ node }) => node === faulty.id) ? failed.length : -1
    if (faulted.unasked) {
      // It failed when the test broke its connection, too.
      if (failed.some(({ reason }) => reason === LOST) && !HANGS.includes(fault)) return false
      // A stream that tells nothing is heard all the same.
      const told = fault !== TELLS_NOTHING || poller.counters.pushed.empty > 0
      return told && failing === (fault === TELLS_NOTHING ? 0 : 1) && heard === asked - failing
    }
    return asked === all.length && stored === right.length && failing + heard + empty === 1
  }
  await until(counted)
  const stale = sampledAt(table, faulty.id)
  const before = right.map(({ id }) => sampledAt(table, id) ?? Number.NaN)
  const renewed = () =>
    right.every(({ id }, index) => (sampledAt(table, id) ?? 0) > (before[index] ?? Number.NaN))
  // Who tells unasked does so in its own time.
  await until((tally) => counted(tally) && (!faulted.unasked || renewed()))
  // Its reading is the one it had, and grows old; the others' are new.
  t.is(sampledAt(table, faulty.id), stale)
  t.true(renewed())

  // The port may be somebody else's by now.
  if (fault === 'refuses') return
  await faulty.mend()
  await until(whole)
}

/** Registers a test for each fault that nodes of this transport may have. */
export function faultTable(faulted: FaultedTransport): void {
  for (const fault of faulted.faults) {
    test(`${faulted.name}: a node that ${fault} is counted and goes stale; all others are read in the same cycle`, (t) =>
      meets(t, faulted, fault))
  }
}
