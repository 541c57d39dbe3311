import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { sum } from '../count.mjs'
import { command } from '../matrix/runtimes.mjs'
import { run } from '../process.mjs'
import { compiledPath } from './compile.mjs'

/** @typedef {import('./ava.config.mjs').Written} Written */
/** @typedef {import('./ava.config.mjs').FileStats} FileStats */
/** @typedef {Written['faults'][number]} Fault */
/** @typedef {import('../matrix/runtimes.mjs').Runtime} Runtime */
/** @typedef {{ code: number, written: Written | undefined }} Run */

/**
 * What came of the tests on one runtime.
 * @typedef {object} Outcome
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {Fault[]} faults what failed, for good
 * @property {Fault[]} known what failed, and is known to
 * @property {string[]} again files that failed beside others, and passed when they ran alone
 * @property {string[]} files that ran
 */

/**
 * Runs compiled tests by ava in a runtime.
 * @param {string} root
 * @param {Pick<Runtime, 'kind' | 'path'>} runtime
 * @param {string[]} tests paths or patterns of their sources, and arguments of ava
 * @param {object} [options]
 * @param {'quick' | 'long' | 'all'} [options.among] tests that take minutes are `long`, the others `quick`
 * @param {boolean} [options.quiet] shows nothing of what they print
 * @returns {Promise<Run>}
 */
export async function runAva(root, runtime, tests, { among = 'all', quiet = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-ava-'))
  const stats = join(folder, 'stats.json')
  const args = ['.ci/tests/ava.mjs', '--config', '.ci/tests/ava.config.mjs', ...tests.map(compiledPath)]
  const started = command(runtime, args)
  const { code } = await run(started.file, started.args, {
    cwd: root,
    quiet,
    env: {
      ...started.env,
      IDLEST_AVA_STATS: stats,
      IDLEST_TESTS: among,
      // For whatever tests start by the name `node`.
      PATH: `${dirname(runtime.path)}${delimiter}${process.env.PATH ?? ''}`,
    },
  })
  const written = existsSync(stats) ? JSON.parse(readFileSync(stats, 'utf8')) : undefined
  rmSync(folder, { recursive: true })
  return { code, written }
}

/** The most files that run again. */
const MOST_AGAIN = 4

/**
 * Runs tests on a runtime. A file that fails beside others runs once more, alone, which shows whether the load of the
 * machine was the cause. If many files fail, load is not the cause, and none runs again.
 * @param {string} root
 * @param {string[]} tests
 * @param {object} how
 * @param {(tests: string[]) => Promise<Run>} how.ava
 * @param {(fault: Fault) => boolean} how.isKnown
 * @param {(text: string) => void} how.say
 * @returns {Promise<Outcome>}
 */
export async function runSuite(root, tests, { ava, isKnown, say }) {
  const first = await ava(tests)
  const outcomes = outcomesOf(root, first.written, isKnown)
  // What ava failed by that belongs to no file.
  const isExplained = outcomes.some(({ failed, known }) => failed > 0 || known.length > 0)
  /** @type {string[]} */
  const again = []
  const failing = outcomes.filter(({ failed }) => failed > 0)
  for (const [i, { file, failed }] of outcomes.entries()) {
    if (failed === 0 || failing.length > MOST_AGAIN) continue
    say(`\n── again, alone: ${file}`)
    const [second] = outcomesOf(root, (await ava([file])).written, isKnown)
    if (second === undefined) continue
    outcomes[i] = second
    if (second.failed === 0) again.push(file)
  }
  const count = sum(outcomes)
  const faults = outcomes.flatMap((outcome) => outcome.faults)
  if ((count.passed === 0 && count.failed === 0) || (first.code !== 0 && !isExplained)) {
    count.failed += 1
    faults.push({ file: '', what: `ava ended with ${first.code}` })
  }
  return {
    ...count,
    faults,
    known: outcomes.flatMap(({ known }) => known),
    again,
    files: outcomes.map(({ file }) => file),
  }
}

/**
 * What came of each file.
 * @param {string} root
 * @param {Written | undefined} written
 * @param {(fault: Fault) => boolean} isKnown
 */
function outcomesOf(root, written, isKnown) {
  return Object.entries(written?.byFile ?? {}).map(([path, stats]) => {
    const file = relative(root, path).replaceAll('\\', '/')
    const own = (written?.faults ?? []).filter((fault) => fault.file === path)
    const known = own.map((fault) => ({ ...fault, file })).filter(isKnown)
    const faults = own.map((fault) => ({ ...fault, file })).filter((fault) => !isKnown(fault))
    if (own.length === 0 && (stats.declaredTests === 0 || stats.remainingTests > 0)) {
      faults.push({ file, what: 'it did not run to its end' })
    }
    return {
      file,
      passed: stats.passedTests + stats.passedKnownFailingTests,
      failed: faults.length,
      skipped: stats.skippedTests + stats.todoTests,
      faults,
      known,
    }
  })
}

/**
 * Lines for the log: the files that passed when they ran again, and what failed.
 * @param {Pick<Outcome, 'again' | 'faults'>} outcome
 */
export function tryLines({ again, faults }) {
  return [
    ...again.map((file) => `passed at second try, alone: ${file}`),
    ...faults.map((fault) => `failed: ${faultLine(fault)}`),
  ]
}

/** @param {Fault} fault */
export function faultLine({ file, title, what }) {
  return [file, title, what].filter(Boolean).join(' › ')
}
