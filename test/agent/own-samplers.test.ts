import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { eventLoopSampler } from '../../dist/agent/samplers/event-loop.js'
import { processSampler } from '../../dist/agent/samplers/process.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { moduleFile } from '../support/module-file.js'

test('processSampler: CPU time of the process over one core, above 100 with several threads', (t) => {
  const clock = new VirtualClock(9)
  const usage = { user: 1_000_000, system: 500_000 }
  const sampler = processSampler({ clock, cpuUsage: () => ({ ...usage }) })
  t.is(sampler.sample(), undefined)
  clock.jump(1_000)
  usage.user += 300_000
  usage.system += 100_000
  t.is(sampler.sample(), 40)
  clock.jump(500)
  usage.user += 1_250_000
  t.is(sampler.sample(), 250)
  clock.jump(500)
  t.is(sampler.sample(), 0)
})

test('processSampler: two samples at one moment: the second has no value, and the next loses nothing', (t) => {
  const clock = new VirtualClock()
  const usage = { user: 0, system: 0 }
  const sampler = processSampler({ clock, cpuUsage: () => ({ ...usage }) })
  sampler.sample()
  usage.user = 100_000
  t.is(sampler.sample(), undefined)
  clock.jump(1_000)
  t.is(sampler.sample(), 10)
})

test('processSampler: a process that burns CPU reports more than one that waits', async (t) => {
  const script = `
    import { processSampler } from ${JSON.stringify(new URL('../../dist/agent/samplers/process.js', import.meta.url))}
    const sampler = processSampler()
    const first = sampler.sample()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const waiting = sampler.sample()
    for (const end = process.cpuUsage().user + 200_000; process.cpuUsage().user < end; );
    console.log(JSON.stringify({ first: first ?? null, waiting, burning: sampler.sample() }))
  `
  const { stdout } = await promisify(execFile)(process.execPath, [moduleFile(t, script)])
  const { first, waiting, burning } = JSON.parse(stdout)
  t.is(first, null)
  t.true(waiting >= 0)
  t.true(burning > waiting, stdout)
})

test('eventLoopSampler: the share of active time since its own last sample', (t) => {
  const times = { idle: 1_000, active: 1_000 }
  const eventLoopUtilization = () => ({ ...times })
  const often = eventLoopSampler({ eventLoopUtilization })
  const seldom = eventLoopSampler({ eventLoopUtilization })
  t.is(often.sample(), undefined)
  t.is(seldom.sample(), undefined)
  times.idle += 75
  times.active += 25
  t.is(often.sample(), 25)
  times.active += 100
  t.is(often.sample(), 100)
  t.is(seldom.sample(), 62.5)
})

test('eventLoopSampler: no time passed means no value, and the next loses nothing', (t) => {
  const times = { idle: 0, active: 0 }
  const sampler = eventLoopSampler({ eventLoopUtilization: () => ({ ...times }) })
  t.is(sampler.sample(), undefined)
  t.is(sampler.sample(), undefined)
  times.idle += 75
  times.active += 25
  t.is(sampler.sample(), 25)
})

test('eventLoopSampler: on this thread, no value at first, then 0 to 100', async (t) => {
  const sampler = eventLoopSampler()
  t.is(sampler.sample(), undefined)
  await new Promise((resolve) => setTimeout(resolve, 20))
  const value = sampler.sample() ?? -1
  t.true(value >= 0 && value <= 100, String(value))
})

function loop(idle = 0, active = 0) {
  const times = { idle, active }
  return { times, eventLoopUtilization: () => ({ ...times }) }
}

test('eventLoopSampler: the busiest of this loop and those of the workers', (t) => {
  const own = loop(5, 5)
  const [first, second] = [loop(), loop()]
  const workers = [{ performance: first }, { performance: second }]
  const sampler = eventLoopSampler({ eventLoopUtilization: own.eventLoopUtilization, workers })
  t.is(sampler.sample(), undefined)
  const pass = (share: number[]) => {
    for (const [i, { times }] of [own, first, second].entries()) {
      times.active += share[i] ?? 0
      times.idle += 100 - (share[i] ?? 0)
    }
    return sampler.sample()
  }
  t.is(pass([10, 20, 60]), 60)
  t.is(pass([90, 20, 60]), 90)
  t.is(pass([10, 30, 20]), 30)
})

test('eventLoopSampler: workers may come and go; a new one counts from its second look on', (t) => {
  const own = loop(5, 5)
  const threads = [loop(0, 1_000), loop(0, 1_000)]
  const all = threads.map((performance) => ({ performance }))
  let there = all.slice(0, 1)
  const sampler = eventLoopSampler({ eventLoopUtilization: own.eventLoopUtilization, workers: () => there })
  const pass = (shares: number[]) => {
    own.times.idle += 100
    for (const [i, { times }] of threads.entries()) {
      times.active += shares[i] ?? 0
      times.idle += 100 - (shares[i] ?? 0)
    }
    return sampler.sample()
  }
  sampler.sample()
  t.is(pass([40, 90]), 40)
  there = all
  t.is(pass([40, 90]), 40)
  t.is(pass([40, 90]), 90)
  // A thread that has ended says 0 for all its time.
  Object.assign(threads[1]?.times ?? {}, { idle: 0, active: 0 })
  there = all.slice(1)
  own.times.idle += 100
  t.is(sampler.sample(), 0)
})

test('eventLoopSampler: a worker thread that is busy is seen while this one waits', async (t) => {
  const worker = new Worker('while (true);', { eval: true })
  t.teardown(() => worker.terminate())
  await once(worker, 'online')
  const sampler = eventLoopSampler({ workers: [worker] })
  let value: number | undefined
  while (value === undefined || value < 90) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    value = sampler.sample()
  }
  t.true(value <= 100)
})
