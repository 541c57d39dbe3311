import { capacityOf, lengthOf, meanService } from '../../scenario/plan.js'
import type { Scenario } from '../../scenario/scenario.js'
import type { Scene } from '../../simulation/scene.js'
import { time } from '../result-tables.js'

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`
}

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US')
}

function serviceWords(scenario: Scenario): string {
  const { mean, constant, times } = scenario.service
  if (mean !== undefined) return `of ${rounded(mean)} ms each (exponential)`
  if (constant !== undefined) return `of ${rounded(constant)} ms each (constant)`
  return `of ${rounded(meanService(scenario))} ms each (mean of ${times?.length} given)`
}

function arrivalWords(scenario: Scenario, scene: Scene): string {
  const { load, rate } = scenario.arrivals
  if (load !== undefined) return `at ${load} % load`
  const full = capacityOf(scenario)
  const percent = (perSecond: number) =>
    full === 0 ? 'to servers that can do nothing at the start' : `${rounded((perSecond / full) * 100)} % load`
  if (rate !== undefined) return `at ${rounded(rate)} a second, ${percent(rate)}`
  const length = lengthOf(scene)
  const replayed = scenario.arrivals.replay === '-' ? 'standard input' : scenario.arrivals.replay
  // Requests that all come at once have no rate.
  if (length === 0) return `as in ${replayed}, all at once`
  const mean = (scene.requests / length) * 1000
  return `as in ${replayed}, over ${time(length)}: ${rounded(mean)} a second, ${percent(mean)} on average`
}

/** What is simulated, in a sentence without an end. */
export function introduction(scenario: Scenario, scene: Scene): string {
  const { reportInterval = 0, delay = 0, timeout, changes = [] } = scene
  return [
    `${counted(scene.servers.length, 'server')}, ${counted(scene.balancers ?? 1, 'balancer')}, ` +
      `${counted(scene.requests, 'request')} ${serviceWords(scenario)} ${arrivalWords(scenario, scene)}`,
    reportInterval === 0 ? 'no reports' : `reports every ${reportInterval} ms`,
    ...(delay > 0 ? [`a delay of ${delay} ms each way`] : []),
    ...(timeout === undefined ? [] : [`a time-out of ${timeout} ms`]),
    ...(changes.length > 0 ? [counted(scenario.changes.length, 'change')] : []),
  ].join(', ')
}

/** What servers there are, a line a group. */
export function fleetWords({ servers }: Scenario): string[] {
  return servers.map(({ count, name, cores, speed, background, state }) =>
    [
      `${name ?? counted(count, 'server')}${name !== undefined && count > 1 ? ` (${count})` : ''}: ${counted(cores, 'core')}`,
      ...(speed === 1 ? [] : [`speed ${speed}`]),
      ...(background === 0 ? [] : [`${background} % taken by other work`]),
      ...(state === 'up' ? [] : [`${state} at the start`]),
    ].join(', '),
  )
}
