import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AccessLog } from '../../access-log/access-log.js'
import { arrivalsOf } from '../../access-log/arrivals.js'
import { readAccessLog } from '../../access-log/read.js'
import { reasonOf } from '../../errors.js'
import { hasFields } from '../../fields.js'
import { count } from '../../format.js'
import { printable } from '../../printable.js'
import type { Problem } from '../../scenario/document.js'
import { checkScenario, readScenario, wordsOf } from '../../scenario/read.js'
import type { Scenario } from '../../scenario/scenario.js'
import type { LogData } from '../../scene/model/report-data.js'
import { readBounded } from '../bounded-file.js'
import { FAILED, USAGE } from '../exit.js'
import type { Progress } from '../progress.js'
import { type Flags, type IsGiven, overridden, type Raw, scenarioOfFlags } from './flags.js'

/** Problems of a file that are told; the first ones often bring about the others. */
const MOST_PROBLEMS = 20

/** The longest log that can be simulated, ms: servers report all the time. */
const LONGEST_LOG = 31 * 86_400_000

/** A file can't be used: the whole message, and what to exit with. */
export class InputError extends Error {
  override readonly name = 'InputError'
  readonly exitCode: number

  constructor(message: string, exitCode = FAILED) {
    super(message)
    this.exitCode = exitCode
  }
}

/** A problem in each line, as compilers write them. */
function problemLines(file: string, problems: readonly Problem[]): InputError {
  const told = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ line, column, message }) => printable(`${file}:${line}:${column}: ${message}`))
  const more = problems.length - told.length
  return new InputError([...told, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'), USAGE)
}

/**
 * The scenario of a file and flags, checked.
 * @throws InputError, OptionError
 */
export function readScenarioFile(file: string | undefined, flags: Flags, isGiven: IsGiven): Scenario {
  if (file === undefined) {
    const checked = checkScenario(scenarioOfFlags(flags, isGiven))
    if ('scenario' in checked) return checked.scenario
    throw new InputError(
      checked.wrong.map((finding) => printable(`error: ${wordsOf(finding)}`)).join('\n'),
      USAGE,
    )
  }
  const read = readScenario(textOf(file), (value) =>
    hasFields(value) ? overridden(atFile(value, file), flags, isGiven) : value,
  )
  if ('scenario' in read) return read.scenario
  throw problemLines(file, read.problems)
}

/** Longest scenario, bytes: some ten thousand servers and changes, each in a line of its own. */
const MOST_BYTES = 4 * 2 ** 20

function textOf(file: string): string {
  let bytes: Buffer
  try {
    bytes = readBounded(file, MOST_BYTES)
  } catch (error) {
    throw new InputError(printable(`error: can't read the scenario: ${reasonOf(error)}`))
  }
  if (bytes.length > MOST_BYTES) {
    throw new InputError(
      printable(`error: ${file} is longer than any scenario: more than ${MOST_BYTES} bytes`),
      USAGE,
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Where the first character is that none stands for.
    const line = bytes.toString('utf8').split('\ufffd', 1)[0]?.split('\n').length ?? 1
    throw new InputError(printable(`${file}:${line}:1: this is not text in UTF-8`), USAGE)
  }
}

// A log that a file names is beside the file, wherever the program was started.
function atFile(value: Raw, file: string): Raw {
  const { arrivals } = value
  if (!hasFields(arrivals) || typeof arrivals.replay !== 'string') return value
  if (arrivals.replay === '' || arrivals.replay === '-') return value
  return { ...value, arrivals: { ...arrivals, replay: resolve(dirname(file), arrivals.replay) } }
}

/**
 * Reads the log that a scenario replays, if it does.
 * @throws InputError
 */
export async function readReplay(
  { arrivals: { replay, field, speed }, seed }: Scenario,
  progress: Progress,
): Promise<{ readonly times: Float64Array; readonly report: LogData } | undefined> {
  if (replay === undefined) return undefined
  const path = replay === '-' ? 'standard input' : replay
  let log: AccessLog
  try {
    const size = replay === '-' ? Number.NaN : statSync(replay).size
    log = await readAccessLog(replay, {
      field,
      onProgress: (bytes) => {
        if (size > 0) progress.step('reading the log', Math.min(1, bytes / size))
      },
    })
  } catch (error) {
    throw new InputError(printable(`error: can't read the log: ${reasonOf(error)}`))
  }
  const { counts, bad: firstBad } = log
  const report = { path, ...counts, firstBad }
  if (counts.used === 0) {
    throw new InputError(
      [printable(`error: no line of ${path} tells when a request came`), ...badLines(report)].join('\n'),
    )
  }
  const times = arrivalsOf(log.times, { seed, speed })
  const length = times.at(-1) ?? 0
  if (length > LONGEST_LOG) {
    const days = Math.round(length / 86_400_000).toLocaleString('en')
    throw new InputError(
      `error: ${printable(path)} goes over ${days} days, from line ${log.earliestLine} to line ${log.latestLine}: ` +
        'at most 31 can be simulated; leave lines out, or let it go by faster',
    )
  }
  return { times, report }
}

/** What is to be said of the lines that could not be used. */
export function badLines({ path, lines, bad, firstBad }: LogData): string[] {
  if (bad === 0) return []
  const more = bad - firstBad.length
  return [
    `${printable(path)}: ${count(bad)} of ${count(lines)} lines can't be used, and ${bad === 1 ? 'was' : 'were'} left out:`,
    ...firstBad.map(({ line, why }) => `  line ${line}: ${why}`),
    ...(more > 0 ? [`  and ${count(more)} more`] : []),
  ]
}
