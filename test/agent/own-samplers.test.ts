import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { eventLoopSampler } from '../../dist/agent/samplers/event-loop.js'
import { processSampler } from '../../dist/agent/samplers/process.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

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
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
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
