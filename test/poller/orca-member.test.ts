import test from 'ava'
import type { Answer } from '../../dist/poller/answer.js'
import { GRPC_BACK_OFF } from '../../dist/poller/back-off.js'
import { OrcaMember } from '../../dist/poller/orca-member.js'
import type { OrcaEvents, StreamEnd } from '../../dist/poller/orca-stream.js'
import type { Report } from '../../dist/report.js'
import { writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const REFUSED: StreamEnd = { kind: 'exit', reason: 'refused', final: false }
const UNKNOWN: StreamEnd = { kind: 'error', reason: 'no such service', final: true }

/** A member whose connections the test plays. */
class Played {
  readonly clock = new VirtualClock(1_000_000)
  readonly pushed: { report: Report; at: number }[] = []
  readonly bad: string[] = []
  readonly member: OrcaMember
  connections: OrcaEvents[] = []
  closed = 0

  constructor() {
    this.member = new OrcaMember(
      'a:1',
      { slot: 7, generation: 3 },
      {
        clock: this.clock,
        interval: 5_000,
        random: () => 0.5,
        backOff: GRPC_BACK_OFF,
        onFault: () => {},
        sink: {
          push: (place, report, at) => {
            if (place.slot === 7 && place.generation === 3) this.pushed.push({ report, at })
          },
          bad: ({ id }, reason) => this.bad.push(`${id}: ${reason}`),
          unknown: () => {},
          stranger: () => {},
        },
        connect: (events) => {
          this.connections.push(events)
          return { close: () => this.closed++ }
        },
      },
    )
  }

  get events(): OrcaEvents {
    const events = this.connections.at(-1)
    if (events === undefined) throw new Error('there is no connection')
    return events
  }

  tell(bytes = writeOrcaBinary({ cpu: 40, age: 12 })): void {
    this.events.onOpen()
    this.events.onMessage(bytes)
  }
}

/** What an ask has answered by now; undefined where it waits. */
async function settledBy(ask: Promise<Answer>): Promise<Answer | undefined> {
  let answer: Answer | undefined
  ask.then((settled) => {
    answer = settled
  })
  await new Promise((resolve) => setImmediate(resolve))
  return answer
}

test('a member connects when it is first asked, and not again with later asks', async (t) => {
  const played = new Played()
  t.is(played.connections.length, 0)
  const first = played.member.ask()
  t.is(played.connections.length, 1)
  t.is(await settledBy(first), undefined)
  t.is(await settledBy(played.member.ask()), undefined)
  played.tell()
  t.deepEqual(await first, { kind: 'heard' })
  t.deepEqual(await played.member.ask(), { kind: 'heard' })
  t.is(played.connections.length, 1)
})

test('reports are pushed as they come, at the time when they do', async (t) => {
  const played = new Played()
  void played.member.ask()
  played.tell()
  await played.clock.advance(5_000)
  played.events.onMessage(writeOrcaBinary({ cpu: 60, state: 'drain' }))
  t.deepEqual(played.pushed, [
    { report: { cpu: 40, age: 12 }, at: 1_000_000 },
    { report: { cpu: 60, state: 'drain' }, at: 1_005_000 },
  ])
  t.deepEqual(played.bad, [])
})

test('the first ask waits no longer than its round; later ones say that there is no report until there is', async (t) => {
  const played = new Played()
  const first = played.member.ask()
  played.events.onOpen()
  played.member.cancel('no answer within 2000 ms')
  t.deepEqual(await first, { kind: 'exit', reason: 'no answer within 2000 ms' })
  t.deepEqual(await played.member.ask(), { kind: 'exit', reason: 'no report yet' })
  t.is(played.closed, 0)
  played.tell()
  t.deepEqual(await played.member.ask(), { kind: 'heard' })
})

test('a node that refuses has failed, saying why, while it is waited for and tried again', async (t) => {
  const played = new Played()
  const first = played.member.ask()
  played.events.onEnd(REFUSED)
  const failure = { kind: 'exit', reason: 'refused' } as const
  t.deepEqual(await first, failure)
  t.deepEqual(await played.member.ask(), failure)
  await played.clock.advance(1_000)
  t.is(played.connections.length, 2)
  t.deepEqual(await played.member.ask(), failure)
  played.tell()
  t.deepEqual(await played.member.ask(), { kind: 'heard' })
})

test('a stream that ends is no failure before three intervals have gone by without a report', async (t) => {
  const played = new Played()
  void played.member.ask()
  played.tell()
  played.events.onEnd(REFUSED)
  await played.clock.advance(1_000)
  played.events.onEnd(REFUSED)
  await played.clock.advance(14_000)
  t.deepEqual(await played.member.ask(), { kind: 'heard' })
  await played.clock.advance(1)
  t.deepEqual(await played.member.ask(), { kind: 'exit', reason: 'refused' })
  t.deepEqual(played.bad, [])
})

test('a node without the service is an error with each ask, and is not tried again before its connection is gone', async (t) => {
  const played = new Played()
  const first = played.member.ask()
  played.events.onOpen()
  played.events.onEnd(UNKNOWN)
  const failure = { kind: 'error', reason: 'no such service' } as const
  t.deepEqual(await first, failure)
  await played.clock.advance(3_600_000)
  t.deepEqual(await played.member.ask(), failure)
  t.is(played.connections.length, 1)
  played.events.onLost()
  await played.clock.advance(1_000)
  t.is(played.connections.length, 2)
  played.tell()
  t.deepEqual(await played.member.ask(), { kind: 'heard' })
})

const BAD: [name: string, bytes: Uint8Array][] = [
  ['cut short', Buffer.from('09000000', 'hex')],
  ['NaN', Buffer.from('09000000000000f87f', 'hex')],
  ['negative', Buffer.from('09000000000000f0bf', 'hex')],
  ['infinite', Buffer.from('09000000000000f07f', 'hex')],
  ['huge', Buffer.from('09ffffffffffffef7f', 'hex')],
  ['text', Buffer.from('HTTP/1.1 200 OK')],
]

for (const [name, bytes] of BAD) {
  test(`a report that is ${name} is counted each time and stores nothing; the next good one counts`, async (t) => {
    const played = new Played()
    const first = played.member.ask()
    played.tell(bytes)
    const answer = await first
    t.is(answer.kind, 'error')
    t.deepEqual(await played.member.ask(), answer)
    played.events.onMessage(bytes)
    t.is(played.bad.length, 2)
    t.regex(played.bad[0] ?? '', /^a:1: (the )?report/)
    t.deepEqual(played.pushed, [])
    played.tell()
    t.deepEqual(await played.member.ask(), { kind: 'heard' })
    t.is(played.pushed.length, 1)
    t.is(played.closed, 0)
  })
}

test('an empty message is a report that tells nothing', async (t) => {
  const played = new Played()
  const first = played.member.ask()
  played.tell(new Uint8Array(0))
  t.deepEqual(await first, { kind: 'heard' })
  t.deepEqual(played.pushed, [{ report: {}, at: 1_000_000 }])
})

test('a flood is counted though the node counts as heard', async (t) => {
  const played = new Played()
  void played.member.ask()
  for (let i = 0; i < 101; i++) played.tell()
  t.deepEqual(await played.member.ask(), { kind: 'heard' })
  t.deepEqual(played.bad, ['a:1: more than 10 messages a second'])
  t.is(played.pushed.length, 100)
  t.is(played.closed, 1)
})

test('a member that is closed lets go of its connection, and of who waits', async (t) => {
  const played = new Played()
  const first = played.member.ask()
  played.member.close()
  t.deepEqual(await first, { kind: 'exit', reason: 'closed' })
  t.is(played.closed, 1)
  t.is(played.clock.pending, 0)
  played.tell()
  t.deepEqual(played.pushed, [])
})

test('a member that was never asked has nothing to let go of', (t) => {
  const played = new Played()
  played.member.close()
  t.is(played.connections.length, 0)
  t.is(played.clock.pending, 0)
})
