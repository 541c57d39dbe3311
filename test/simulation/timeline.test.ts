import test from 'ava'
import fc from 'fast-check'
import { Histogram } from '../../dist/simulation/histogram.js'
import { Timeline } from '../../dist/simulation/timeline.js'

test('quantiles of a histogram are right to 1 %', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.002, max: 1e8, noNaN: true }), { minLength: 1, maxLength: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (times, q) => {
        const histogram = new Histogram()
        for (const time of times) histogram.add(time)
        const sorted = times.toSorted((a, b) => a - b)
        const exact = sorted[Math.max(0, Math.ceil(q * times.length) - 1)] as number
        t.true(Math.abs(histogram.quantile(q) / exact - 1) < 0.01)
      },
    ),
  )
})

test('a histogram has a place for any time, and none where it is empty', (t) => {
  const histogram = new Histogram()
  t.is(histogram.quantile(0.5), Number.NaN)
  t.deepEqual(histogram.bars(8), [])
  for (const time of [0, 1e-9, 1e12, Number.MAX_VALUE]) histogram.add(time)
  t.is(histogram.count, 4)
  t.is(
    histogram.bars(8).reduce((sum, { count }) => sum + count, 0),
    4,
  )
})

test('bars border on each other, and count every time once', (t) => {
  const histogram = new Histogram()
  for (let time = 1; time < 1_000; time++) histogram.add(time)
  const bars = histogram.bars(4)
  t.is(
    bars.reduce((sum, { count }) => sum + count, 0),
    999,
  )
  for (const [i, { from, to, count }] of bars.entries()) {
    t.true(Math.abs(to / from - 2 ** 0.25) < 1e-9)
    if (i > 0) t.is(from, bars[i - 1]?.to ?? Number.NaN)
    if (i > 0 && i < bars.length - 1) t.true(Math.abs(count - (to - from)) <= 3)
  }
})

test('requests count in the window in which they arrived, and in the distribution after the warm-up', (t) => {
  const timeline = new Timeline({ servers: 2, length: 10_000, warmup: 200 })
  t.is(timeline.width, 100)
  timeline.sent(0, 0, 50)
  timeline.sent(1, 0, 250)
  timeline.sent(1, 0, 260)
  timeline.ended(1, true, 20, 280)
  timeline.ended(0, true, 900, 950)
  timeline.ended(1, false, 1_000, 1_250)
  const [first, second, third, ...more] = timeline.windows()
  t.deepEqual(first?.sent, [1, 0])
  t.deepEqual(second, { p99: undefined, sent: [0, 0] })
  t.deepEqual(third?.sent, [0, 2])
  t.deepEqual(more, [])
  t.true(Math.abs((first?.p99 ?? 0) / 900 - 1) < 0.01)
  t.true(Math.abs((third?.p99 ?? 0) / 20 - 1) < 0.01)
  t.is(timeline.responses.count, 1)
})

test('there are 100 to 250 windows, of a round length, and what comes too late is in the last', (t) => {
  for (const [length, width] of [
    [1, 0.01],
    [357_143, 2_000],
    [60_000, 500],
    [99_999, 500],
    [2_678_400_000, 20_000_000],
  ] as const) {
    const timeline = new Timeline({ servers: 1, length, warmup: 0 })
    t.true(Math.abs(timeline.width / width - 1) < 1e-9, `${length}: ${timeline.width}`)
    timeline.sent(0, 0, 100 * length)
    const windows = timeline.windows()
    t.true(windows.length > 100 && windows.length <= 302)
    t.is(windows.at(-1)?.sent[0], 1)
  }
})

test('requests that come all at once have one window', (t) => {
  const timeline = new Timeline({ servers: 1, length: 0, warmup: 0 })
  for (let i = 0; i < 5; i++) timeline.sent(0, 0, 0)
  t.deepEqual(
    timeline.windows().map(({ sent }) => sent),
    [[5]],
  )
})
