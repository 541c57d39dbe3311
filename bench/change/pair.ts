// `npm run bench:pair -- BASE HEAD`: measures two checkouts in one go, their rounds in turn.
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { numberFrom } from '../../dist/cli/arguments.js'
import { Progress } from '../../dist/cli/progress.js'
import { fileToWrite } from '../arguments.js'
import { TOPICS, type Topic } from '../case.js'
import { firstMessage } from '../figures/child.js'
import { writeResults } from '../results.js'
import { spreadOf } from '../statistics.js'
import { type Change, type Compared, compareCases } from './compare.js'
import { type Judging, judge, thresholdOf, thresholdOption } from './judge.js'
import type { RoundMessage } from './pair-protocol.js'

interface Options extends Judging {
  readonly processes: number
  readonly rounds: number
  readonly topics: readonly string[]
  readonly quick?: boolean
  readonly json?: string
}

// Those of several threads, and of others, say nothing of a change.
const OWN_TOPICS = TOPICS.filter((topic) => topic !== 'threads' && topic !== 'peers')

const command = new Command('bench:pair')
  .description(
    'Measures two built checkouts in one go, their rounds in turn, so that what the machine does to one it does to the other. Exits with 1 where a case got slower.',
  )
  .argument('<base>', 'a folder with a clone that is built, from before')
  .argument('<head>', 'the same, from after')
  .option(...thresholdOption)
  .option(
    '--processes <count>',
    'processes of each, one after the other',
    numberFrom(1, 1e6, 'processes', true),
    4,
  )
  .option('--rounds <count>', 'rounds of each process', numberFrom(1, 1e6, 'rounds', true), 6)
  .option('--topics <names>', `some of ${OWN_TOPICS.join(', ')}; default all`, topicsOf, OWN_TOPICS)
  .option('--quick', 'few samples: shows that it runs')
  .option('--markdown <file>', 'writes the table to a file too', fileToWrite)
  .option('--json <file>', 'writes what was found of each to a file', fileToWrite)
  // 1 is for what got slower.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()

function topicsOf(text: string): readonly Topic[] {
  const topics = text.split(',').map((name) => OWN_TOPICS.find((topic) => topic === name))
  const known = topics.filter((topic) => topic !== undefined)
  if (known.length < topics.length) throw new InvalidArgumentError('Expected topics, with commas.')
  return known
}

const options = command.opts<Options>()
/** Part of the samples of a case that a round of the bench takes. */
const EFFORT = options.quick ? 0.05 : 0.5

/** What a checkout came to: by case, in floors, of all rounds of all its processes. */
class Side {
  readonly folder: string
  readonly #found = new Map<string, number[]>()
  #child: ChildProcess | undefined

  constructor(folder: string) {
    this.folder = resolve(folder)
    const file = join(this.folder, CHILD)
    if (!existsSync(file))
      command.error(`${folder} is no clone that can be compared: it has no ${CHILD}.`, { exitCode: 2 })
    if (!existsSync(join(this.folder, 'dist')))
      command.error(`${folder} is not built: npm run build.`, { exitCode: 2 })
  }

  async start(): Promise<void> {
    const { folder } = this
    this.#child = fork(join(folder, CHILD), [`${EFFORT}`, ...options.topics], {
      cwd: folder,
      execArgv: ['--import', 'tsx', '--no-warnings'],
    })
    await firstMessage(this.#child)
  }

  async round(): Promise<void> {
    if (this.#child === undefined) throw new Error('not started')
    const answer = firstMessage(this.#child)
    this.#child.send('round')
    const { round } = (await answer) as RoundMessage
    for (const { key, floors } of round) {
      const found = this.#found.get(key) ?? []
      found.push(floors)
      this.#found.set(key, found)
    }
  }

  async end(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise<void>((done) => child.once('exit', () => done()))
    child.disconnect()
    await gone
  }

  cases(): Compared[] {
    return [...this.#found].map(([key, floors]) => ({ key, floors: spreadOf(floors) }))
  }
}

const CHILD = 'bench/change/pair-child.ts'

async function measure(base: Side, head: Side): Promise<Change[]> {
  const progress = new Progress()
  const all = options.processes * options.rounds
  for (let i = 0; i < options.processes; i++) {
    // Each goes first as often as the other.
    const order = i % 2 === 0 ? [base, head] : [head, base]
    for (const side of order) await side.start()
    for (let round = 0; round < options.rounds; round++) {
      progress.step('rounds', i * options.rounds + round, all)
      for (const side of round % 2 === 0 ? order : [...order].reverse()) await side.round()
    }
    for (const side of order) await side.end()
  }
  progress.clear()
  return compareCases(base.cases(), head.cases(), thresholdOf(options))
}

const [before = '', after = ''] = command.args
const base = new Side(before)
const head = new Side(after)
judge(await measure(base, head), options)
if (options.json !== undefined) writeResults({ base: base.cases(), head: head.cases() }, options.json)
