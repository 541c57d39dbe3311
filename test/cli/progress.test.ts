import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import { Progress } from '../../dist/cli/progress.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { written } from '../support/written.js'

function stage(isTTY: boolean) {
  const clock = new VirtualClock(1_000)
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  const progress = new Progress(stream, clock)
  const read = (): string => written(stream)
  return { clock, progress, read }
}

for (const isTTY of [true, false]) {
  const where = isTTY ? 'on a terminal' : 'without a terminal'

  test(`work that is done within two seconds is not told of, ${where}`, async (t) => {
    const { clock, progress, read } = stage(isTTY)
    progress.step('runs', 0, 40)
    await clock.advance(1_999)
    progress.step('runs', 40, 40)
    progress.clear()
    await clock.advance(60_000)
    t.is(read(), '')
    t.is(clock.pending, 0)
  })

  test(`work that waits is told of after two seconds, ${where}`, async (t) => {
    const { clock, progress, read } = stage(isTTY)
    progress.step('polling', 3, 8)
    await clock.advance(2_000)
    t.regex(read(), /polling.*3 of 8/)
    progress.clear()
  })

  test(`work that keeps the thread is told of at its first step after two seconds, ${where}`, (t) => {
    const { clock, progress, read } = stage(isTTY)
    progress.step('runs', 0, 40)
    // Its timers do not fire.
    const now = clock.now() + 2_500
    clock.now = () => now
    progress.step('runs', 12, 40)
    t.regex(read(), /runs.*12 of 40/)
    progress.clear()
  })
}

test('on a terminal a bar is drawn in one line, and taken away', (t) => {
  const { clock, progress, read } = stage(true)
  clock.jump(2_000)
  progress.step('rounds', 10, 40)
  const drawn = read()
  t.is(
    stripVTControlCharacters(drawn).replace('\u001b7', ''),
    `rounds ${'█'.repeat(6)}${'░'.repeat(18)} 25 %, 10 of 40`,
  )
  t.notRegex(drawn, /\n/)
  progress.clear()
  t.true(read().endsWith('\u001b[2K'))
})

test('a note stays above the bar', (t) => {
  const { clock, progress, read } = stage(true)
  clock.jump(2_000)
  progress.step('rounds', 10, 40)
  read()
  progress.note('the floor is left out')
  const [before, after] = read().split('the floor is left out\n')
  t.true(before?.endsWith('\u001b[2K'))
  t.regex(after ?? '', /rounds .*10 of 40/)
  progress.clear()
})

test('a bar is not wider than the terminal', (t) => {
  const { clock, progress, read } = stage(true)
  clock.jump(2_000)
  progress.step('x'.repeat(200), 10, 40)
  const drawn = stripVTControlCharacters(read()).replace('\u001b7', '')
  t.is(drawn.length, 80)
  progress.clear()
})

test('without a terminal there are lines, no more than one in two seconds', (t) => {
  const { clock, progress, read } = stage(false)
  for (let done = 0; done < 100; done++) {
    progress.step('rounds', done, 100)
    clock.jump(100)
  }
  progress.step('rounds', 100, 100)
  t.is(
    read(),
    'rounds: 19 of 100\nrounds: 40 of 100\nrounds: 60 of 100\nrounds: 80 of 100\nrounds: 100 of 100\n',
  )
})

test('long work is told of once a tenth, or every half minute', (t) => {
  const { clock, progress, read } = stage(false)
  for (let second = 0; second <= 300; second++) {
    progress.step('requests', second / 3_000)
    clock.jump(1_000)
  }
  const lines = read().trimEnd().split('\n')
  t.is(lines[0], 'requests: 0 %')
  t.is(lines[1], 'requests: 1 %')
  t.is(lines.length, 10)
})

test('other work gets a line of its own', (t) => {
  const { clock, progress, read } = stage(false)
  clock.jump(2_000)
  progress.step('least-loaded', 0.5)
  clock.jump(2_000)
  progress.step('adaptive', 0.01)
  t.is(read(), 'least-loaded: 50 %\nadaptive: 1 %\n')
})

test('after it was cleared, progress is told at the next step', (t) => {
  const { clock, progress, read } = stage(false)
  clock.jump(2_000)
  progress.step('runs', 1, 40)
  progress.clear()
  clock.jump(2_000)
  progress.step('runs', 8, 40)
  t.is(read(), 'runs: 1 of 40\nruns: 8 of 40\n')
})
