import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { sum } from '../count.mjs'
import { run } from '../process.mjs'
import { command } from './runtimes.mjs'

/** @typedef {import('../ava.config.mjs').Written} Written */
/** @typedef {import('../ava.config.mjs').FileStats} FileStats */
/** @typedef {import('../count.mjs').Count} Count */
/** @typedef {Written['faults'][number]} Fault */
/** @typedef {import('./runtimes.mjs').Runtime} Runtime */
/** @typedef {{ code: number, written: Written | undefined }} Run */

/**
 * What came of the tests on one runtime.
 * @typedef {object} Outcome
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {number} known tests that fail, and are known to
 * @property {string[]} again files that failed beside others, and passed when they ran alone
 * @property {Fault[]} faults what failed for good
 */

/**
 * Runs tests by ava in a runtime.
 * @param {string} root
 * @param {Runtime} runtime
 * @param {string[]} tests paths or patterns; all tests where there are none
 * @returns {Promise<Run>}
 */
export async function runAva(root, runtime, tests) {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-matrix-'))
  const stats = join(folder, 'stats.json')
  // The timeout is of a run in which nothing at all happened. A busy machine is no reason to give up.
  const args = ['.ci/matrix/ava.mjs', '--config', '.ci/ava.config.mjs', '--timeout', '10m', ...tests]
  const started = command(runtime, args)
  const { code } = await run(started.file, started.args, {
    cwd: root,
    env: {
      ...started.env,
      IDLEST_AVA_STATS: stats,
      // For whatever tests start by the name `node`.
      PATH: `${dirname(runtime.path)}${delimiter}${process.env.PATH ?? ''}`,
    },
  })
  const written = existsSync(stats) ? JSON.parse(readFileSync(stats, 'utf8')) : undefined
  rmSync(folder, { recursive: true })
  return { code, written }
}

/**
 * Runs tests on a runtime. A file that fails beside others is run once more, alone: it then tells whether it was the
 * load of the machine.
 * @param {string} root
 * @param {string[]} tests
 * @param {object} how
 * @param {(tests: string[]) => Promise<Run>} how.ava
 * @param {(fault: { file: string, title?: string | undefined }) => boolean} how.isKnown
 * @param {(text: string) => void} how.say
 * @returns {Promise<Outcome>}
 */
export async function runSuite(root, tests, { ava, isKnown, say }) {
  const first = await ava(tests)
  if (first.written === undefined) return nothingRan(first.code)
  const outcomes = Object.entries(first.written.byFile).map(([file, stats]) =>
    outcomeOf(root, file, stats, first.written?.faults ?? [], isKnown),
  )
  /** @type {string[]} */
  const again = []
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.failed === 0) continue
    say(`\n── again, alone: ${outcome.file}`)
    const { code, written } = await ava([outcome.file])
    const [[path, stats] = []] = Object.entries(written?.byFile ?? {})
    if (path === undefined || stats === undefined) continue
    const second = outcomeOf(root, path, stats, written?.faults ?? [], isKnown)
    if (second.failed === 0 && (code === 0 || second.known > 0)) again.push(outcome.file)
    outcomes[i] = second
  }
  const count = sum(outcomes)
  const known = outcomes.reduce((total, outcome) => total + outcome.known, 0)
  const faults = outcomes.flatMap((outcome) => outcome.faults)
  // What ava failed by that belongs to no file, or nothing at all having passed.
  const unexplained = first.code !== 0 && again.length === 0 && count.failed === 0 && known === 0
  if (unexplained || count.passed === 0) {
    count.failed += 1
    faults.push({ file: '', what: `ava ended with ${first.code}` })
  }
  return { ...count, known, again, faults }
}

/** @param {number} code */
function nothingRan(code) {
  const faults = [{ file: '', what: `ava ended with ${code} before it ran a test` }]
  return { passed: 0, failed: 1, skipped: 0, known: 0, again: [], faults }
}

/**
 * @param {string} root
 * @param {string} path
 * @param {FileStats} stats
 * @param {Fault[]} all
 * @param {(fault: Fault) => boolean} isKnown
 */
function outcomeOf(root, path, stats, all, isKnown) {
  const file = relative(root, path).replaceAll('\\', '/')
  const own = all.filter((fault) => fault.file === path).map((fault) => ({ ...fault, file }))
  // That a process ended badly or a promise was left rejected says no more than the known failures before it.
  const faults = own.filter((fault) => !isKnown(fault))
  const known = own.length - faults.length
  const passed = stats.passedTests + stats.passedKnownFailingTests
  const undone = stats.declaredTests === 0 || stats.remainingTests > 0
  if (faults.length === 0 && known === 0 && undone) faults.push({ file, what: 'it did not run to its end' })
  return {
    file,
    passed,
    failed: faults.length,
    skipped: stats.skippedTests + stats.todoTests,
    known,
    faults,
  }
}
