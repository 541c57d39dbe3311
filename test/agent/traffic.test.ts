import test from 'ava'
import fc from 'fast-check'
import { type ServedRequest, Traffic } from '../../dist/agent/traffic.js'
import { OptionError } from '../../dist/errors.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

function counting(window?: number) {
  const clock = new VirtualClock(777)
  return { clock, traffic: new Traffic({ clock, window }) }
}

/** Serves `count` requests, one each `gap` ms, of which every `failing`th fails. */
function serve(
  { clock, traffic }: ReturnType<typeof counting>,
  { count, gap, took = 0, failing = Number.POSITIVE_INFINITY }: Record<string, number>,
): void {
  for (let i = 1; i <= (count ?? 0); i++) {
    const request = traffic.begin()
    clock.jump(took)
    request.end(i % (failing ?? 0) === 0)
    clock.jump((gap ?? 0) - took)
  }
}

test('it says nothing before it is told that requests will be counted', (t) => {
  const { traffic } = counting()
  t.deepEqual(traffic.report(), {})
})

test('open: an idle process says so; its queue counts as full until it is measured', async (t) => {
  const { clock, traffic } = counting()
  traffic.open()
  t.deepEqual(traffic.report(), { inFlight: 0, qps: 0, eps: 0, queueDelay: 5_000 })
  await clock.advance(100)
  t.deepEqual(traffic.report(), { inFlight: 0, qps: 0, eps: 0, queueDelay: 0 })
})

test('a request is in flight from its begin to its first end', (t) => {
  const { traffic } = counting()
  const [first, second] = [traffic.begin(), traffic.begin()]
  t.is(traffic.report().inFlight, 2)
  first?.end()
  first?.end(true)
  t.is(traffic.report().inFlight, 1)
  second?.end(true)
  t.is(traffic.report().inFlight, 0)
  t.deepEqual([traffic.counters.begun, traffic.counters.ended, traffic.counters.failed], [2, 2, 1])
})

test('qps and eps are those of the last ten seconds', (t) => {
  const run = counting()
  serve(run, { count: 3_000, gap: 10, failing: 4 })
  const { qps = 0, eps = 0 } = run.traffic.report()
  t.true(Math.abs(qps - 100) < 0.2, String(qps))
  t.true(Math.abs(eps - 25) < 0.2, String(eps))
  serve(run, { count: 600, gap: 20 })
  t.true(Math.abs((run.traffic.report().qps ?? 0) - 50) < 0.2)
  t.is(run.traffic.report().eps, 0)
})

test('after the last request the rates fall with time, to 0 at the end of the window', (t) => {
  const run = counting(1_000)
  run.traffic.open()
  run.clock.jump(5_000)
  serve(run, { count: 100, gap: 1 })
  const rates = []
  for (let i = 0; i < 12; i++) {
    run.clock.jump(100)
    rates.push(run.traffic.report().qps ?? -1)
  }
  t.true((rates[0] ?? 0) > 99 && (rates[0] ?? 0) < 106, `${rates}`)
  t.is(rates.at(-1), 0)
  t.deepEqual(
    rates,
    rates.toSorted((a, b) => b - a),
  )
})

test('at the start the rates are over the time that has passed, and no less than a twentieth of the window', (t) => {
  const run = counting(10_000)
  run.traffic.open()
  run.traffic.begin().end()
  t.is(run.traffic.report().qps, 2)
  run.clock.jump(1_000)
  t.is(run.traffic.report().qps, 1)
})

test('a pause longer than the window leaves nothing of what was before', (t) => {
  const run = counting(1_000)
  serve(run, { count: 500, gap: 10 })
  run.clock.jump(1_000_000_000)
  serve(run, { count: 10, gap: 10 })
  t.true(Math.abs((run.traffic.report().qps ?? 0) - 10) < 0.6)
})

test('rates are what a count over the same time says, whatever the times are', (t) => {
  const ends = fc.array(fc.tuple(fc.double({ min: 0, max: 700, noNaN: true }), fc.boolean()), {
    maxLength: 200,
  })
  fc.assert(
    fc.property(ends, fc.double({ min: 0, max: 1_500, noNaN: true }), (steps, rest) => {
      const { clock, traffic } = counting(2_000)
      traffic.open()
      const start = clock.now()
      const counted: { at: number; failed: boolean }[] = []
      for (const [gap, failed] of steps) {
        clock.jump(gap)
        traffic.begin().end(failed)
        counted.push({ at: clock.now(), failed })
      }
      clock.jump(rest)
      const slice = Math.floor((clock.now() - start) / 100)
      const first = Math.max(0, slice - 19)
      const over = Math.max(100, clock.now() - start - first * 100) / 1000
      const within = counted.filter(({ at }) => Math.floor((at - start) / 100) >= first)
      const { qps = -1, eps = -1, inFlight } = traffic.report()
      t.is(inFlight, 0)
      t.true(Math.abs(qps - within.length / over) <= 0.001)
      t.true(Math.abs(eps - within.filter(({ failed }) => failed).length / over) <= 0.001)
    }),
  )
})

test('latency is a mean, in which the last second counts most', (t) => {
  const run = counting()
  t.is(run.traffic.begin() && run.traffic.report().latency, undefined)
  serve(run, { count: 100, gap: 20, took: 10 })
  // One is in flight, so it does not fade.
  t.is(run.traffic.report().latency, 10)
  serve(run, { count: 20, gap: 50, took: 50 })
  const soon = run.traffic.report().latency ?? 0
  t.true(soon > 20 && soon < 45, String(soon))
  serve(run, { count: 100, gap: 50, took: 50 })
  t.true(Math.abs((run.traffic.report().latency ?? 0) - 50) < 1)
})

test('latency stays while something is in flight, and fades when nothing is', (t) => {
  const { clock, traffic } = counting()
  const hanging = traffic.begin()
  const done = traffic.begin()
  clock.jump(40)
  done.end()
  clock.jump(60_000)
  t.is(traffic.report().latency, 40)
  hanging.end(true)
  t.is(traffic.report().latency, 40)
  clock.jump(1_000)
  t.is(traffic.report().latency, Math.round(40_000 / Math.E) / 1000)
  clock.jump(60_000)
  t.is(traffic.report().latency, 0)
})

test('what fails does not make the latency lower, but with `timed` it counts', (t) => {
  const { clock, traffic } = counting()
  const requests: ServedRequest[] = [traffic.begin(), traffic.begin(), traffic.begin(), traffic.begin()]
  requests[1]?.end(true)
  clock.jump(100)
  requests[2]?.end()
  t.is(traffic.report().latency, 100)
  clock.jump(200)
  requests[3]?.end(true, true)
  t.true((traffic.report().latency ?? 0) > 200)
})

test('queue delay: what comes right behind a request waits for the rest of the turn', async (t) => {
  const { clock, traffic } = counting()
  await clock.advance(100)
  const request = traffic.begin()
  clock.jump(0)
  t.is(traffic.report().queueDelay, 0.001, 'nothing waits, but a request is worked on')
  request.end()
  await clock.advance(0)
  t.is(traffic.report().queueDelay, 0, 'the process is idle')
})

test('queue delay: the first request of a turn is measured, up to the next turn', (t) => {
  // Timers of this clock stand for turns of the loop.
  let now = 0
  const due: (() => void)[] = []
  const clock = {
    now: () => now,
    setTimeout: (run: () => void, ms: number) => (ms === 0 ? due.push(run) : 0),
    clearTimeout: () => {},
  }
  const turn = () => {
    for (const run of due.splice(0)) run()
  }
  const traffic = new Traffic({ clock })
  const requests = Array.from({ length: 5 }, () => {
    const request = traffic.begin()
    // Each handler keeps the thread busy.
    now += 7
    return request
  })
  t.is(due.length, 1, 'one look a turn')
  turn()
  t.is(traffic.report().queueDelay, 35)
  for (const request of requests) request.end()
  turn()
  t.is(traffic.report().queueDelay, 0)
})

test('close: its timer ends and the queue delay is unknown, but requests are counted on', (t) => {
  const { clock, traffic } = counting()
  const request = traffic.begin()
  traffic.close()
  traffic.close()
  request.end()
  clock.jump(1)
  t.is(clock.pending, 0)
  traffic.begin()
  t.is(clock.pending, 0)
  t.deepEqual(Object.keys(traffic.report()), ['inFlight', 'qps', 'eps', 'latency'])
  t.is(traffic.report().inFlight, 1)
})

test('closed before it was open: it never starts a timer', (t) => {
  const { clock, traffic } = counting()
  traffic.close()
  traffic.open()
  t.is(clock.pending, 0)
})

test('in flight is never below 0, and is 0 when all have ended, in any order', (t) => {
  const script = fc.array(fc.tuple(fc.constantFrom('begin', 'end'), fc.nat(20), fc.boolean()))
  fc.assert(
    fc.property(script, (steps) => {
      const { traffic } = counting()
      const all: ServedRequest[] = []
      const open = new Set<number>()
      for (const [what, which, failed] of steps) {
        if (what === 'begin') open.add(all.push(traffic.begin()) - 1)
        else if (all.length > 0) {
          const place = which % all.length
          all[place]?.end(failed)
          open.delete(place)
        }
        t.is(traffic.inFlight, open.size)
      }
      for (const request of all) request.end()
      t.is(traffic.inFlight, 0)
    }),
  )
})

for (const [name, given] of [
  ['a window of 0', { window: 0 }],
  ['a window that is no number', { window: '10s' }],
  ['a misspelt option', { windw: 1_000 }],
] as const) {
  test(`${name} is refused`, (t) => {
    t.throws(() => new Traffic(given as object), { instanceOf: OptionError })
  })
}
