// `npm run quality`: judges algorithms in simulated scenes, and says which bars are met. `--help` lists the options.
import { Command, InvalidArgumentError } from 'commander'
import { numberFrom } from '../../dist/cli/arguments.js'
import { Progress } from '../../dist/cli/progress.js'
import { fileToWrite } from '../arguments.js'
import { writePages } from '../page/write.js'
import { writeResults } from '../results.js'
import { theseVersions } from '../versions.js'
import { contenders } from './contenders.js'
import { overview, sceneTable } from './report.js'
import { KEPT_QUALITY, type QualityResults } from './results.js'
import { type Outcome, runScene } from './run.js'
import { neighbours, scenes } from './scenes.js'
import { situations } from './situations.js'

interface Options {
  policy?: string[]
  scene?: string[]
  neighbours?: boolean
  quick?: boolean
  seeds: number
  json?: string
  write?: boolean
}

/** Part of the requests that a quick run has. */
const QUICK = 0.4

const known = [...scenes, ...neighbours, ...situations]

const options = new Command('quality')
  .description('Judges algorithms in simulated scenes. Exits with 0 also where a bar is missed.')
  .option('--policy <names>', 'some of them, with commas', someOf(contenders.map(({ name }) => name)))
  .option('--scene <names>', 'some of them, with commas', someOf(known.map(({ name }) => name)))
  .option('--neighbours', 'the scenes near the others too, which have no bars')
  .option('--quick', 'few requests and one seed: a look, no more')
  .option('--seeds <count>', 'runs of each, with requests of their own', numberFrom(1, 1e6, 'runs', true), 3)
  .option('--json <file>', 'writes the results to a file', fileToWrite)
  .option(
    '--write',
    'writes bench/quality.json and the pages made of it: all policies and scenes, with --neighbours those too',
  )
  .parse()
  .opts<Options>()

function someOf(names: readonly string[]): (text: string) => string[] {
  return (text) =>
    text.split(',').flatMap((part) => {
      const found = names.filter(
        (name) => name === part || (part.endsWith('*') && name.startsWith(part.slice(0, -1))),
      )
      if (found.length === 0) throw new InvalidArgumentError(`Expected some of ${names.join(', ')}.`)
      return found
    })
}

const whole = options.write === true
const wanted =
  whole || options.scene === undefined
    ? options.neighbours
      ? known
      : scenes
    : known.filter(({ name }) => options.scene?.includes(name))
const judged = contenders.filter(({ name }) => whole || (options.policy?.includes(name) ?? true))
const seeds = Array.from({ length: options.quick ? 1 : options.seeds }, (_, i) => i + 1)
const progress = new Progress()
const outcomes: Outcome[] = []

for (const scene of wanted) {
  const requests = Math.ceil(scene.requests * (options.quick && scene.watched === undefined ? QUICK : 1))
  for (const contender of judged) {
    progress.step('runs', outcomes.length, wanted.length * judged.length)
    outcomes.push(runScene(scene, contender, requests, seeds))
  }
  progress.clear()
  console.log(sceneTable(scene, outcomes))
}
console.log(overview(wanted, outcomes))
if (options.quick) console.log('This was a quick run: its figures say little.')
const commit = theseVersions().commit
const results: QualityResults = {
  date: new Date().toISOString(),
  ...(commit !== undefined && { commit }),
  seeds: seeds.length,
  requests: options.quick ? QUICK : 1,
  outcomes,
}
if (options.json !== undefined) writeResults(results, options.json)
if (whole) {
  writeResults(results, KEPT_QUALITY)
  for (const line of writePages()) console.log(line)
}
