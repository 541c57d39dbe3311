import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import { Budget } from '../../dist/cli/demo/budget.js'
import { bar } from '../../dist/cli/demo/format.js'
import type { Frame } from '../../dist/cli/demo/frame.js'
import { Latencies } from '../../dist/cli/demo/latencies.js'
import { makePlan, SequenceDigest, totalWork } from '../../dist/cli/demo/plan.js'
import { makeScene, serverShare } from '../../dist/cli/demo/scene.js'
import { shareSampler } from '../../dist/cli/demo/share-sampler.js'
import { progressView, screenView } from '../../dist/cli/demo/views.js'
import { Progress } from '../../dist/cli/progress.js'
import { milliseconds } from '../../dist/format.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { written } from '../support/written.js'

const options = { seed: 3, rate: 400, meanWork: 2, duration: 50 }

test('a plan is the same for the same seed, and another for another', (t) => {
  t.deepEqual(makePlan(options), makePlan(options))
  t.notDeepEqual(makePlan(options).work, makePlan({ ...options, seed: 3 + 2 ** 40 }).work)
})

test('a plan has the rate and the mean work that it was asked for', (t) => {
  const plan = makePlan(options)
  const requests = plan.at.length
  // 20,000 are expected: five standard deviations are 707 requests, and 3.5 % of the mean work.
  t.true(Math.abs(requests - 20_000) < 707)
  t.true(Math.abs(totalWork(plan) / requests - 2) < 0.07)
  t.deepEqual(
    [...plan.at].sort((a, b) => a - b),
    [...plan.at],
  )
  t.true((plan.at.at(-1) as number) < 50_000)
})

test('the digest of a sequence tells order, times and works apart', (t) => {
  const digest = (...requests: [number, number][]) => {
    const sequence = new SequenceDigest()
    for (const [at, work] of requests) sequence.add(at, work)
    return sequence.hex()
  }
  t.is(digest([1, 2], [3, 4]), digest([1, 2], [3, 4]))
  const others = [
    digest([1, 2]),
    digest([3, 4], [1, 2]),
    digest([1, 2], [3, 5]),
    digest([1, 2], [3.000001, 4]),
  ]
  t.is(new Set([digest([1, 2], [3, 4]), ...others]).size, 5)
})

test('the load is a part of what all servers could do without the second job', (t) => {
  t.is(serverShare(2), 0.25)
  t.is(serverShare(1), 0.125)
  t.is(serverShare(64), 0.5)
  const { share, capacity, rate, servers } = makeScene({ duration: 1, seed: 1, engine: 'auto', load: 58 })
  t.is(capacity, (4 * share * 1000) / 1.25)
  t.is(Math.round(rate), Math.round(capacity * 0.58))
  t.deepEqual(
    servers.map(({ secondJob }) => secondJob),
    [0, 0, 0.5, 0],
  )
})

test('a budget comes in at its rate, and is waited for', (t) => {
  const budget = new Budget(0.25, 1, 100)
  budget.accrue(104, true)
  t.is(budget.level, 1)
  t.is(budget.waitFor(1), 0)
  t.is(budget.waitFor(2), 4)
  budget.spend(3)
  t.is(budget.level, -2)
  t.is(budget.waitFor(0), 8)
})

test('a budget is not saved without work', (t) => {
  const budget = new Budget(0.25, 1, 0)
  budget.accrue(10_000, false)
  t.is(budget.level, 1)
  t.is(budget.lost, 0)
})

test('a budget that the system withholds is made up for over 100 ms, and what is more is lost', (t) => {
  const budget = new Budget(0.25, 1, 0)
  budget.accrue(80, true)
  t.is(budget.level, 20)
  t.is(budget.lost, 0)
  budget.accrue(120, true)
  t.is(budget.level, 25)
  t.is(budget.lost, 5)
})

test('CPU is reported over a window, against the share, with what was withheld', (t) => {
  let usage = { cpu: 50, lost: 0, secondJob: 0, served: 0, time: 0 }
  const sample = shareSampler({ usage: () => usage }, 0.25, 500)
  const at = (time: number, cpu: number, lost = 0) => {
    usage = { ...usage, time, cpu, lost }
    return sample()
  }
  t.is(at(1_000, 50), undefined)
  t.is(at(1_250, 81.25), 50)
  t.is(at(1_500, 143.75), 75)
  // The first sample is out of the window.
  t.is(at(1_750, 206.25), 100)
  t.is(at(2_000, 206.25, 62.5), 100)
})

test('percentiles are right to three digits, and absent without values', (t) => {
  const latencies = new Latencies()
  t.deepEqual(latencies.summary(), { p50: undefined, p99: undefined, p999: undefined, max: undefined })
  for (let i = 1; i <= 1000; i++) latencies.record(i)
  const { p50 = 0, p99 = 0, p999 = 0, max = 0 } = latencies.summary()
  for (const [got, right] of [
    [p50, 500],
    [p99, 990],
    [p999, 999],
    [max, 1000],
  ] as [number, number][]) {
    t.true(Math.abs(got - right) / right < 0.002, `${got} is not ${right}`)
  }
})

test('times are shown in three digits or so', (t) => {
  t.deepEqual([undefined, 0.04, 9.94, 9.96, 999.4, 999.6, 9_994, 12_345].map(milliseconds), [
    '-',
    '0.0 ms',
    '9.9 ms',
    '10 ms',
    '999 ms',
    '1.00 s',
    '9.99 s',
    '12.3 s',
  ])
  t.is(bar(0.5, 4), '██░░')
  t.is(bar(7, 4), '████')
})

const frame: Frame = {
  policy: 'idlest',
  elapsed: 2,
  duration: 8,
  sent: 900,
  waiting: 3,
  errors: 0,
  p50: 12,
  p99: 140,
  nodes: [
    { name: 'server 1', secondJob: false, cpu: 62, age: 130, share: 60, p50: 11, p99: 120 },
    { name: 'server 2', secondJob: true, cpu: undefined, age: undefined, share: 40, p50: 14, p99: 150 },
  ],
}

class Screen extends EventEmitter {
  written = ''
  readonly columns: number
  readonly rows: number
  constructor(columns: number, rows: number) {
    super()
    this.columns = columns
    this.rows = rows
  }
  write(text: string): boolean {
    this.written += text
    return true
  }
}

const screenOf = (columns: number, rows: number) => {
  const screen = new Screen(columns, rows)
  return { screen, view: screenView(screen as unknown as WriteStream) }
}

test('on a screen a table is drawn in place of the last one', (t) => {
  const { screen, view } = screenOf(80, 24)
  view.frame(frame, false)
  const first = screen.written
  t.regex(stripVTControlCharacters(first), /server 1 .*62 % .*130 ms .*60 % .*11 ms .*120 ms/)
  t.regex(stripVTControlCharacters(first), /server 2 \+ job .*- /)
  view.frame({ ...frame, sent: 901 }, true)
  const height = first.split('\n').length - 1
  t.true(screen.written.slice(first.length).startsWith(`\x1b[${height}A\x1b[0J`))
  // The last one of a phase stays.
  const before = screen.written.length
  view.frame(frame, false)
  t.false(screen.written.slice(before).startsWith('\x1b['))
})

test('on a screen that is too small for a table lines are printed', (t) => {
  for (const [columns, rows] of [
    [40, 30],
    [100, 4],
  ] as const) {
    const { screen, view } = screenOf(columns, rows)
    view.frame(frame, false)
    view.frame(frame, false)
    t.is(screen.written, 'idlest: 2 of 8 s, 900 sent, 3 waiting; p50 12 ms, p99 140 ms; CPU 62 - %\n')
  }
})

test('beside a JSON document it is told how far the demo is', (t) => {
  const clock = new VirtualClock()
  const out = new PassThrough()
  const progress = new Progress(out, clock)
  const view = progressView(progress)
  view.note('starting the servers')
  clock.jump(1_500)
  view.frame({ ...frame, policy: 'round robin', elapsed: 4 }, false)
  clock.jump(2_500)
  view.frame({ ...frame, policy: 'round robin', elapsed: 9 }, true)
  view.note('warming up for idlest')
  clock.jump(2_000)
  view.frame({ ...frame, elapsed: 4 }, false)
  progress.clear()
  t.is(written(out), 'round robin: 25 %\nround robin: 50 %\nidlest: 75 %\n')
})
