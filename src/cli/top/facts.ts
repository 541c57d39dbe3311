import { count, milliseconds } from '../../format.js'
import type { LiveNode, LiveView } from '../../live/live-view.js'
import { printable } from '../../printable.js'
import { stateOf } from './columns.js'
import { compact, part, time } from './format.js'

// The order in which states are told.
const states = ['up', 'suspect', 'ejected', 'drain', 'maint', 'down']

/** How many nodes are in each state, and how many of all are not picked. */
export function nodesFact({ nodes }: LiveView): string {
  const counts = new Map<string, number>()
  for (const node of nodes) counts.set(stateOf(node), (counts.get(stateOf(node)) ?? 0) + 1)
  const told = [...counts].sort(([a], [b]) => states.indexOf(a) - states.indexOf(b))
  const unpicked = nodes.filter(({ why }) => why !== undefined).length
  return [
    `${count(nodes.length)} ${nodes.length === 1 ? 'node' : 'nodes'}`,
    told.length === 0 ? '' : `: ${told.map(([state, number]) => `${count(number)} ${state}`).join(', ')}`,
    unpicked === 0 ? '' : `; ${count(unpicked)} not picked now`,
  ].join('')
}

/** What is served, in one line. */
export function balancerFact({ balancer, algorithm, engine, uptime }: LiveView): string {
  return `${printable(balancer)}  ${printable(algorithm)}, ${printable(engine)} engine, up ${time(uptime)}`
}

/** What picks have come to. */
export function picksFact({ picks, picksPerSecond, empty, nodes }: LiveView): string {
  const inFlight = nodes.reduce((sum, node) => sum + node.inFlight, 0)
  return `${compact(picksPerSecond)} picks/s, ${count(picks)} in all, ${count(empty)} found no node, ${count(inFlight)} in flight`
}

/** What polling has come to. */
export function pollFact({ poll }: LiveView): string {
  if (poll === undefined) return 'no polling'
  const { interval, cycles, asked, stored, errors, exits, failing } = poll
  const failed = `${count(errors)} bad, ${count(exits)} silent`
  return `polls every ${count(interval)} ms, ${count(failing)} failing: ${count(cycles)} cycles, ${count(asked)} asked, ${count(stored)} stored, ${failed}`
}

const suspicions = {
  failing: 'suspect, since it claims to be idle while requests fail: half of its share',
  slow: 'suspect, since it claims to be idle while requests are slow: half of its share',
  elsewhere: 'suspect by the balancer’s own thread: half of its share',
} as const

function told(value: number | undefined, text: (value: number) => string): string[] {
  return value === undefined ? [] : [text(value)]
}

function reported({ report }: LiveNode): string[] {
  return [
    ...told(report.application, (value) => `application ${compact(value)} %`),
    ...told(report.memory, (value) => `memory ${compact(value)} %`),
    ...told(report.qps, (value) => `${compact(value)} served/s`),
    ...told(report.eps, (value) => `${compact(value)} errors/s`),
    ...told(report.inFlight, (value) => `${compact(value)} in flight there`),
    ...told(report.latency, (value) => `latency there ${milliseconds(value)}`),
    ...told(report.queueDelay, (value) => `queue delay ${milliseconds(value)}`),
  ]
}

/** All that is known of a node, in short texts: also what has no column, or no room for it. */
export function nodeFacts(node: LiveNode): string[] {
  const { why, suspect, ejected, state, told: asked, poll } = node
  return [
    why === undefined ? `${state}, may be picked` : `not picked: ${printable(why)}`,
    ...(suspect === undefined ? [] : [suspicions[suspect]]),
    ...(ejected === undefined || node.reason === 'ejected'
      ? []
      : [`ejected${ejectedFor(ejected)}: ${printable(ejected.reason)}`]),
    ...told(node.cpu, (cpu) => `CPU ${cpu.toFixed(1)} %${node.fresh ? '' : ', too old to count'}`),
    ...told(node.age, (age) => `${milliseconds(age)} old`),
    ...told(node.effective, (load) => `taken for ${compact(load)}`),
    ...told(node.cost, (cost) => `cost ${milliseconds(cost)}`),
    ...told(node.weight, (weight) => `weight ${compact(weight)}`),
    ...told(asked.weight, (weight) => `asks for ${compact(weight)} % of its share`),
    `share ${part(node.share)} %`,
    ...told(node.sentShare, (share) => `sent ${part(share)} %`),
    `${count(node.inFlight)} in flight${asked.maxInFlight ? ` of ${count(asked.maxInFlight)} at most` : ''}`,
    `${count(node.picks)} picks, ${compact(node.picksPerSecond)}/s`,
    `${count(node.released)} released, ${count(node.failed)} failed`,
    ...told(node.latency, (value) => `latency ${milliseconds(value)}`),
    ...(poll === undefined ? [] : [`${count(poll.count)} polls failed, the last: ${printable(poll.reason)}`]),
    ...reported(node),
  ]
}

function ejectedFor({ remaining }: { readonly remaining: number | undefined }): string {
  return remaining === undefined ? '' : ` for ${milliseconds(remaining)}`
}
