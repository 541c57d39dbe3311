import { styleText } from 'node:util'
import type { Table } from 'cli-table3'
import { count, decimal, milliseconds, percent } from '../../format.js'
import { table } from '../table.js'
import { bar } from './format.js'
import type { Frame, NodeFrame } from './frame.js'
import type { DemoResult, NodeResult, PhaseResult } from './result.js'
import { ALGORITHM, type DemoOptions, REPORT_INTERVAL, type Scene, SECOND_JOB, WINDOW } from './scene.js'

// A table has room on 80 columns.
/** Cells of the bar of a server's CPU, and of a phase's progress. */
const CPU_BAR = 12
const PROGRESS_BAR = 12

/** Part of the CPU that was due, percent, from which on its lack is told. */
const NOTABLE_LOSS = 3

type Style = Parameters<typeof styleText>[0]

/** Colours for stdout, where it shows them. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

function titled(head: string[], left: number): Table {
  return table(
    head.map((text) => styled('bold', text)),
    left,
  )
}

function nameOf({ name, secondJob }: { name: string; secondJob: boolean }): string {
  return secondJob ? `${name} + job` : name
}

/** What is going to be done. */
export function introduction(options: DemoOptions, scene: Scene, engine: DemoResult['engine']): string {
  const busy = scene.servers.findIndex(({ secondJob }) => secondJob > 0) + 1
  return [
    `${scene.servers.length} server processes, each at most ${percent(scene.share * 100)} of a core.`,
    `Server ${busy} has a second job, which takes ${percent(SECOND_JOB * 100)} of that.`,
    `${count(scene.rate)} requests/s: ${decimal(options.load)} % of the ${count(scene.capacity)}/s that they could do without that job.`,
    `The same ${count(scene.plan.at.length)} requests (seed ${options.seed}) first with round robin, then with idlest:`,
    `${engine} engine, leastCpu with threshold ${ALGORITHM.threshold} and ttl ${ALGORITHM.ttl} ms,`,
    `reports every ${REPORT_INTERVAL} ms, each the mean CPU of ${WINDOW} ms.`,
  ].join('\n')
}

/** How a phase stands, in one line. */
function progressLine({ elapsed, duration, sent, waiting, errors }: Frame): string {
  const failed = errors > 0 ? `, ${count(errors)} failed` : ''
  if (elapsed < duration) {
    return `${elapsed.toFixed(0)} of ${duration} s, ${count(sent)} sent, ${count(waiting)} waiting${failed}`
  }
  return waiting > 0 ? `all sent, ${count(waiting)} waiting${failed}` : `done, ${count(sent)} sent${failed}`
}

/** A line for a log. */
export function frameLine(frame: Frame): string {
  const cpu = frame.nodes.map((node) => (node.cpu === undefined ? '-' : node.cpu.toFixed(0))).join(' ')
  return `${frame.policy}: ${progressLine(frame)}; p50 ${milliseconds(frame.p50)}, p99 ${milliseconds(frame.p99)}; CPU ${cpu} %`
}

/** A frame as a table, with its progress above. */
export function frameTable(frame: Frame): string {
  const rows = titled(['server', 'CPU of its share', 'age', 'requests', 'p50', 'p99'], 2)
  for (const node of frame.nodes) {
    rows.push([
      nameOf(node),
      cpuCell(node),
      milliseconds(node.age),
      percent(node.share),
      milliseconds(node.p50),
      milliseconds(node.p99),
    ])
  }
  rows.push(['all', '', '', count(frame.sent), milliseconds(frame.p50), milliseconds(frame.p99)])
  const done = bar(frame.elapsed / frame.duration, PROGRESS_BAR)
  return `${styled('bold', frame.policy)} ${done} ${progressLine(frame)}\n${rows}`
}

function cpuCell({ cpu }: NodeFrame): string {
  if (cpu === undefined) return '-'
  const colour = cpu >= 95 ? 'red' : cpu >= 80 ? 'yellow' : 'green'
  return `${styled(colour, bar(cpu / 100, CPU_BAR))} ${percent(cpu).padStart(5)}`
}

/** The two ways beside each other. */
export function comparison(result: DemoResult): string {
  const { phases } = result
  const sums = titled(['', 'requests', 'errors', 'p50', 'p99', 'p99.9', 'slowest'], 1)
  for (const phase of phases) {
    const { p50, p99, p999, max } = phase.latency
    sums.push([
      phase.policy,
      count(phase.requests),
      count(phase.errors),
      milliseconds(p50),
      styled('bold', milliseconds(p99)),
      milliseconds(p999),
      milliseconds(max),
    ])
  }
  const nodes = titled(['server', 'requests', 'CPU', 'p99'], 1)
  for (const [i, node] of (phases[0]?.nodes ?? []).entries()) {
    const both = (cell: (result: NodeResult) => string) =>
      phases.map((phase) => cell(phase.nodes[i] as NodeResult)).join(' → ')
    nodes.push([
      nameOf(node),
      both(({ share }) => percent(share)),
      both(({ cpu }) => percent(cpu)),
      both(({ latency }) => milliseconds(latency.p99)),
    ])
  }
  const title = `Each server, ${phases.map(({ policy }) => policy).join(' → ')}:`
  return [sums, title, nodes, verdict(result), ...warnings(phases)].join('\n')
}

function verdict({ phases, engine }: DemoResult): string {
  const [inTurn, idlest] = phases.map(({ latency }) => latency.p99)
  if (inTurn === undefined || idlest === undefined) return 'There are too few answers to compare.'
  const figures = `p99 ${milliseconds(inTurn)} with round robin, ${milliseconds(idlest)} with idlest (${engine} engine)`
  return idlest < inTurn
    ? styled('green', `${figures}: ${decimal(inTurn / idlest)} times lower.`)
    : styled('yellow', `${figures}: not lower in this run.`)
}

function warnings(phases: readonly PhaseResult[]): string[] {
  const lines = phases.flatMap(({ policy, error }) =>
    error === undefined ? [] : [styled('red', `first error of ${policy}: ${error}`)],
  )
  const lost = Math.max(...phases.flatMap(({ nodes }) => nodes.map((node) => node.lost)))
  if (lost >= NOTABLE_LOSS) {
    const what = `The machine was busy with other things: a server had to do without ${percent(lost)} of the CPU it was due.`
    lines.push(styled('yellow', `${what} Try again on a quiet machine.`))
  }
  return lines
}
