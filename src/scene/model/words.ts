import { count, milliseconds, percent } from '../../format.js'
import { losingOf } from './fleet.js'
import { type Inputs, scenePolicies } from './inputs.js'
import type { SceneRun, SceneServer } from './run.js'

/** A server's name for people: `Server 1`. */
export function titleOf(server: number): string {
  return `Server ${server + 1}`
}

/** Virtual time as minutes and seconds. */
export function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000 + 1e-9)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** A length of time that a visitor sets. */
export function span(ms: number): string {
  return ms < 1000 ? `${count(ms)} ms` : `${Number((ms / 1000).toFixed(2))} s`
}

/** The window in which one server got most, in a few words. */
export function worstWindow({ worstShare }: SceneRun): string {
  return worstShare === undefined
    ? '-'
    : `${percent(worstShare.share * 100)} to ${titleOf(worstShare.server).toLowerCase()}`
}

/** What a server last told, and when. */
export function lastTold({ reported, reportAge }: SceneServer): string {
  if (reported === undefined || reportAge === undefined) return 'no report yet'
  return `${percent(reported)}, ${(reportAge / 1000).toFixed(1)} s ago`
}

/** A run's state in sentences, for those who hear the page. */
export function spokenState(run: SceneRun): string {
  const servers = run.servers.map(
    ({ busy, queue, share }, i) =>
      `${titleOf(i)}: ${percent(share * 100)} of requests, ${percent(busy * 100)} busy, ${count(queue)} waiting.`,
  )
  const p99 = run.p99 === undefined ? '' : ` 99 of 100 responses within ${milliseconds(run.p99)}.`
  const worst = run.worstShare === undefined ? '' : ` Worst window: ${worstWindow(run)}.`
  return `${scenePolicies[run.policy].title} at ${clockTime(run.time)}.${p99}${worst} ${servers.join(' ')}`
}

/** Which server loses CPU, how much, and when; undefined where none does. */
export function lossOf(inputs: Inputs): string | undefined {
  const { lost, lostAt } = inputs
  return lost === 0
    ? undefined
    : `${titleOf(losingOf(inputs))} loses ${percent(lost * 100)} of its CPU at ${clockTime(lostAt)}`
}
