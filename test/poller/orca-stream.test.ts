import test from 'ava'
import fc from 'fast-check'
import { BackOff, GRPC_BACK_OFF } from '../../dist/poller/back-off.js'
import { type OrcaEvents, OrcaStream, type StreamEnd } from '../../dist/poller/orca-stream.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const GOOD = new Uint8Array([1])
const BAD = new Uint8Array([0])
const REFUSED: StreamEnd = { kind: 'exit', reason: 'refused', final: false }
const UNKNOWN: StreamEnd = { kind: 'error', reason: 'no such service', final: true }

/** A connection that the test plays. */
interface Try {
  /** ms since the start. */
  readonly at: number
  readonly events: OrcaEvents
  closed: number
}

/** A stream whose connections the test plays, in virtual time. */
class Played {
  readonly clock = new VirtualClock(1_000_000)
  readonly tries: Try[] = []
  readonly downs: string[] = []
  readonly faults: unknown[] = []
  readonly stream: OrcaStream
  messages = 0
  breaks = false

  constructor({ interval = 5_000, random = (): number => 0.5, fails = false } = {}) {
    this.stream = new OrcaStream({
      clock: this.clock,
      interval,
      backOff: new BackOff(GRPC_BACK_OFF, random),
      connect: (events) => {
        if (fails) throw new Error('no way')
        const one = { at: this.now, events, closed: 0 }
        this.tries.push(one)
        return {
          close() {
            one.closed++
          },
        }
      },
      onMessage: (bytes) => {
        if (this.breaks) throw new Error('a bug')
        this.messages++
        return bytes === GOOD
      },
      onDown: ({ reason }) => this.downs.push(reason),
      onFault: (error) => this.faults.push(error),
    })
    this.stream.start()
  }

  get now(): number {
    return this.clock.now() - 1_000_000
  }

  get last(): Try {
    const last = this.tries.at(-1)
    if (last === undefined) throw new Error('there was no try')
    return last
  }

  /** The present connection stands, and tells something. */
  tell(bytes = GOOD): void {
    this.last.events.onOpen()
    this.last.events.onMessage(bytes)
  }

  /** Ends the present connection and says how long the next one is waited for, whole ms; undefined for ever so long. */
  waitAfter(end: StreamEnd): number | undefined {
    const began = this.now
    this.last.events.onEnd(end)
    return this.waitForTry(began)
  }

  waitForTry(began = this.now): number | undefined {
    const before = this.tries.length
    this.clock.jump(0)
    for (let gone = 0; gone < 300_000; gone++) {
      if (this.tries.length > before) return Math.round(this.now - began)
      this.clock.jump(1)
    }
    return undefined
  }
}

test('a node that refuses is tried again after waits that grow, each time by a new connection', (t) => {
  const played = new Played()
  const waits = Array.from({ length: 13 }, () => played.waitAfter(REFUSED))
  t.deepEqual(
    waits,
    [1_000, 1_600, 2_560, 4_096, 6_554, 10_486, 16_778, 26_844, 42_950, 68_720, 109_952, 120_000, 120_000],
  )
  t.deepEqual(
    played.tries.map(({ closed }) => closed),
    [...Array(13).fill(1), 0],
  )
  t.deepEqual(played.downs, Array(13).fill('refused'))
})

test('after a report the next try is made at once, and the waits after it start anew', (t) => {
  const played = new Played()
  for (let i = 0; i < 6; i++) played.waitAfter(REFUSED)
  played.tell()
  played.clock.jump(3_000)
  t.is(played.waitAfter(REFUSED), 0)
  t.is(played.waitAfter(REFUSED), 1_000)
  t.is(played.waitAfter(REFUSED), 1_600)
})

test('a node that tells once and ends the stream is not asked more than once a second', (t) => {
  const played = new Played()
  for (let i = 0; i < 10; i++) {
    played.tell()
    played.clock.jump(10)
    t.is(played.waitAfter({ kind: 'exit', reason: 'ended', final: false }), 990)
  }
})

test('what is no report resets nothing', (t) => {
  const played = new Played()
  t.is(played.waitAfter(REFUSED), 1_000)
  played.tell(BAD)
  played.clock.jump(60_000)
  t.is(played.waitAfter(REFUSED), 1_600)
})

test('a service that is not known is not asked for again on that connection, however long it stands', (t) => {
  const played = new Played()
  played.last.events.onOpen()
  t.is(played.waitAfter(UNKNOWN), undefined)
  t.is(played.last.closed, 0)
  t.deepEqual(played.downs, ['no such service'])
  played.last.events.onLost()
  t.is(played.waitForTry(), 1_000)
  t.deepEqual(
    played.tries.map(({ closed }) => closed),
    [1, 0],
  )
  played.tell()
  t.is(played.messages, 1)
})

test('a connection that does not come about within 20 s has failed', (t) => {
  const played = new Played()
  t.is(played.waitForTry(), 21_000)
  t.deepEqual(played.downs, ['no connection within 20000 ms'])
})

test('a connection that is lost is made anew, though its stream did not end', (t) => {
  const played = new Played()
  played.tell()
  played.clock.jump(2_000)
  played.last.events.onLost()
  t.is(played.waitForTry(), 0)
  t.deepEqual(played.downs, ['the connection was lost'])
})

for (const { interval, patience } of [
  { interval: 5_000, patience: 15_000 },
  { interval: 2_000, patience: 6_000 },
  { interval: 100, patience: 5_000 },
]) {
  test(`a node that tells each ${interval} ms and stops is given up after ${patience} ms`, (t) => {
    const played = new Played({ interval })
    played.tell()
    for (let i = 0; i < 10; i++) {
      played.clock.jump(interval)
      played.last.events.onMessage(GOOD)
    }
    t.is(played.waitForTry(), patience)
    t.deepEqual(played.downs, [`nothing was heard for ${patience} ms`])
  })
}

test("a server that tells less often than it was asked is given three of its own intervals, from the start gRPC's usual ones", (t) => {
  const played = new Played({ interval: 1_000 })
  played.tell()
  for (let i = 0; i < 10; i++) {
    played.clock.jump(30_000)
    played.last.events.onMessage(GOOD)
  }
  t.is(played.tries.length, 1)
  t.is(played.waitForTry(), 90_000)
  // How often it tells is known on the next connection too.
  played.tell()
  t.is(played.waitForTry(), 90_000)
})

test('reports that were held up and come at once do not make it impatient', (t) => {
  const played = new Played({ interval: 1_000 })
  played.tell()
  played.clock.jump(30_000)
  for (let i = 0; i < 2; i++) played.last.events.onMessage(GOOD)
  played.clock.jump(30_000)
  t.is(played.tries.length, 1)
})

test('a connection on which nothing is ever told is given up after 90 s', (t) => {
  const played = new Played({ interval: 1_000 })
  played.last.events.onOpen()
  t.is(played.waitForTry(), 91_000)
})

test('a flood is cut off, and waited for longer each time though reports came with it', (t) => {
  const played = new Played({ interval: 1_000 })
  for (const wait of [1_000, 1_600, 2_560]) {
    played.last.events.onOpen()
    const before = played.messages
    const { length } = played.downs
    while (played.downs.length === length) played.last.events.onMessage(GOOD)
    t.is(played.messages - before, 100)
    t.is(played.waitForTry(), wait)
  }
  t.is(played.downs[0], 'more than 10 messages a second')
  // Ten a second are none.
  played.last.events.onOpen()
  for (let i = 0; i < 1_000; i++) {
    played.clock.jump(100)
    played.last.events.onMessage(GOOD)
  }
  t.is(played.downs.length, 3)
})

test('a node that was asked to tell ten times a second may do so half as often again', (t) => {
  const played = new Played({ interval: 100 })
  played.last.events.onOpen()
  for (let i = 0; i < 1_000; i++) {
    played.clock.jump(67)
    played.last.events.onMessage(GOOD)
  }
  t.deepEqual(played.downs, [])
})

test('what throws as a message is handled ends the stream, which is not tried again', (t) => {
  for (const provoke of [
    (played: Played) => {
      played.breaks = true
      played.last.events.onMessage(GOOD)
    },
    (played: Played) => played.last.events.onFault(new Error('a bug')),
  ]) {
    const played = new Played()
    played.last.events.onOpen()
    provoke(played)
    t.is(played.faults.length, 1)
    t.is(played.last.closed, 1)
    t.is(played.clock.pending, 0)
    played.clock.jump(1_000_000)
    t.is(played.tries.length, 1)
  }
})

for (const [what, end] of [
  ['in the stream', (events: OrcaEvents) => events.onEnd({ ...REFUSED, excess: true })],
  [
    'once it said that it has no such service',
    (events: OrcaEvents) => {
      events.onEnd(UNKNOWN)
      events.onLost(true)
    },
  ],
] as const) {
  test(`who sends too much ${what} is waited for longer each time though reports came with it`, (t) => {
    const played = new Played()
    for (const wait of [1_000, 1_600, 2_560]) {
      played.last.events.onOpen()
      played.last.events.onMessage(GOOD)
      end(played.last.events)
      t.is(played.waitForTry(), wait)
    }
  })
}

test('what an earlier connection still says is of no account', (t) => {
  const played = new Played()
  const first = played.last
  played.waitAfter(REFUSED)
  played.last.events.onOpen()
  first.events.onMessage(GOOD)
  first.events.onEnd(UNKNOWN)
  first.events.onLost()
  t.is(played.messages, 0)
  t.deepEqual(played.downs, ['refused'])
  t.is(played.last.closed, 0)
})

test('a report that comes before the connection was said to stand counts', (t) => {
  const played = new Played({ interval: 1_000 })
  played.last.events.onMessage(GOOD)
  played.clock.jump(60_000)
  t.is(played.messages, 1)
  t.is(played.tries.length, 1)
})

test('where no connection can be made that is said, and tried again', (t) => {
  const played = new Played({ fails: true })
  t.deepEqual(played.downs, ['no way'])
  played.clock.jump(1_000)
  t.is(played.downs.length, 2)
  t.is(played.clock.pending, 1)
})

for (const [name, play] of [
  ['connecting', () => {}],
  ['told', (played: Played) => played.tell()],
  ['refused and waiting', (played: Played) => played.last.events.onEnd(REFUSED)],
  ['without the service', (played: Played) => played.last.events.onEnd(UNKNOWN)],
] as [string, (played: Played) => void][]) {
  test(`closed while ${name}, nothing is left: no connection, no timer, no try`, (t) => {
    const played = new Played()
    play(played)
    played.stream.close()
    t.is(played.clock.pending, 0)
    t.is(played.last.closed, 1)
    t.is(played.waitForTry(), undefined)
    played.last.events.onMessage(GOOD)
    played.last.events.onEnd(REFUSED)
    t.is(played.clock.pending, 0)
  })
}

test('whatever comes of connections, there is one at a time, and a timer or one that is final', (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(100_000) }),
    fc.record({
      kind: fc.constantFrom('open', 'good', 'bad', 'refused', 'unknown', 'lost'),
      ms: fc.constant(0),
    }),
  )
  const property = fc.property(
    fc.array(step, { maxLength: 60 }),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    (steps, random) => {
      const played = new Played({ random: () => random })
      let final = false
      for (const { kind, ms } of steps) {
        const { events } = played.last
        const open = played.last.closed === 0
        if (kind === 'wait') played.clock.jump(ms)
        else if (kind === 'open') events.onOpen()
        else if (kind === 'good') events.onMessage(GOOD)
        else if (kind === 'bad') events.onMessage(BAD)
        else if (kind === 'refused') events.onEnd(REFUSED)
        else if (kind === 'unknown') events.onEnd(UNKNOWN)
        else events.onLost()
        const same = open && played.last.closed === 0 && played.last.events === events
        final = same && (final || kind === 'unknown')
        const standing = played.tries.filter(({ closed }) => closed === 0)
        if (standing.length > 1 || played.tries.some(({ closed }) => closed > 1)) return false
        if (played.clock.pending !== (final ? 0 : 1)) return false
      }
      return true
    },
  )
  t.notThrows(() => fc.assert(property))
})
