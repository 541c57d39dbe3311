import { printable } from '../../printable.js'
import { fleetOf, sceneOf } from '../../scenario/plan.js'
import type { LogData } from '../../scene/model/report-data.js'
import { compare } from '../../simulation/compare.js'
import { type Scene, serverName } from '../../simulation/scene.js'
import type { Result } from '../../simulation/simulation.js'
import { Progress } from '../progress.js'
import { nodesTable, responsesTable } from '../result-tables.js'
import type { Flags, IsGiven } from './flags.js'
import { HtmlReport, type Simulated } from './html.js'
import { badLines, readReplay, readScenarioFile } from './inputs.js'
import { introduction } from './introduction.js'

export { InputError } from './inputs.js'

/** Servers that are listed one by one; more do not fit on a screen. */
const MOST_LISTED = 24

// The simulator numbers servers; a scenario names them.
function withNames(result: Result, names: readonly string[]): Result {
  const nameOf = new Map(names.map((name, i) => [serverName(i), name]))
  const named = (id: string): string => nameOf.get(id) ?? id
  const { nodes, worstWindow } = result
  return {
    ...result,
    nodes: nodes.map((node) => ({ ...node, id: named(node.id) })),
    worstWindow: worstWindow && { ...worstWindow, node: named(worstWindow.node) },
  }
}

// A log's times are as long as the log.
function sceneToPrint(scene: Scene, log: LogData | undefined): unknown {
  return log === undefined ? scene : { ...scene, arrivals: { kind: 'replay', log: log.path } }
}

function print({ json }: Flags, { scenario, scene, results, log }: Simulated): void {
  const { name } = scenario
  if (json) {
    const document = { name, scene: sceneToPrint(scene, log), log, results }
    process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
    return
  }
  const title = name === undefined ? '' : `${printable(name)}\n`
  process.stdout.write(`${title}${printable(introduction(scenario, scene))}\n\n${responsesTable(results)}\n`)
  if (scene.servers.length <= MOST_LISTED) process.stdout.write(`\n${nodesTable(results)}\n`)
}

/**
 * Simulates the scenario of a file and flags, and prints what came of it.
 * @throws InputError, OptionError, EngineError
 */
export async function run(file: string | undefined, flags: Flags, isGiven: IsGiven): Promise<void> {
  const scenario = readScenarioFile(file, flags, isGiven)
  const html = flags.html === undefined ? undefined : new HtmlReport(flags.html)
  const progress = new Progress()
  try {
    const replay = await readReplay(scenario, progress)
    const log = replay?.report
    if (log !== undefined) for (const line of badLines(log)) progress.note(line)
    const scene = sceneOf(scenario, replay?.times)
    const { names } = fleetOf(scenario)
    const { engine, reportInterval, delay, seed } = scenario
    const idOf = (name: string): string => serverName(names.indexOf(name))
    const policies = scenario.policies.map((spec) => spec.make({ engine, reportInterval, delay }, idOf))
    const results = compare(
      scene,
      policies,
      seed,
      (policy, done) => progress.step(printable(policy), done),
      html && (() => html.watch(scene)),
    ).map((result) => withNames(result, names))
    progress.clear()
    const simulated = { scenario, scene, results, log }
    print(flags, simulated)
    if (html !== undefined) {
      html.write(simulated)
      if (!flags.json) process.stdout.write(`\nReport: ${printable(html.path)}\n`)
    }
  } finally {
    progress.clear()
  }
}
