// How ava runs the compiled tests, and an observer that leaves ava's own statistics of the run in a file.
// Not TAP: ava's TAP reporter crashes when a test times out, and its report for people is the better one.
// Not the report's last lines either: they leave out how many passed when one failed.
import { writeFileSync } from 'node:fs'
import { COMPILED, sourcePath } from './compile.mjs'

/** @typedef {Extract<import('ava/internal').Event, { type: 'stats' }>['stats']} Stats */
/** @typedef {Stats['byFile'] extends Map<string, infer F> ? F & { unexpectedProcessExits?: number } : never} FileStats */
/**
 * What is left in the file: the statistics, for each test file too, and what failed or was left undone.
 * @typedef {Omit<Stats, 'byFile'> & {
 *   byFile: Record<string, FileStats>,
 *   faults: { file: string, title?: string | undefined, what: string }[],
 * }} Written
 */

/** @param {import('ava/internal').ObservedRun} run */
async function observeRun({ events }) {
  /** @type {Stats | undefined} */
  let stats
  /** @type {Written['faults']} */
  const faults = []
  const file = process.env.IDLEST_AVA_STATS
  process.on('exit', () => {
    if (file && stats) {
      const written = {
        ...stats,
        byFile: Object.fromEntries([...stats.byFile].map(([path, of]) => [sourcePath(path), of])),
        faults: faults.map((fault) => ({ ...fault, file: sourcePath(fault.file) })),
      }
      writeFileSync(file, JSON.stringify(written))
    }
  })
  for await (const event of events) {
    if (event.type === 'stats') stats = event.stats
    else faults.push(...faultsOf(event))
  }
}

/**
 * @param {import('ava/internal').Event} event
 * @returns {Written['faults']}
 */
function faultsOf(event) {
  if (event.type === 'timeout') {
    return [...event.pendingTests].flatMap(([file, titles]) =>
      [...titles].map((title) => ({ file, title, what: 'timed out' })),
    )
  }
  if (event.type === 'test-failed') {
    return [{ file: event.testFile, title: event.title, what: firstLine(event.err.message) }]
  }
  // ava's types know of neither the file nor some of the events.
  const {
    type,
    testFile: file,
    err,
  } = /** @type {{ type: string, testFile?: string, err?: Error }} */ (event)
  const names = ['hook-failed', 'internal-error', 'process-exit', 'uncaught-exception', 'unhandled-rejection']
  if (![...names, 'worker-failed'].includes(type)) return []
  return [{ file: file ?? '', what: [type, ...(err ? [firstLine(err.message)] : [])].join(': ') }]
}

/** @param {string} [text] */
function firstLine(text = '') {
  return text.split('\n', 1)[0] ?? ''
}

const ALL = `${COMPILED}/test/**/*.test.js`
// The tests that take minutes have a script of their own.
const LONG = `${COMPILED}/test/**/*.long.test.js`
const files = { quick: [ALL, `!${LONG}`], long: [LONG], all: [ALL] }

export default {
  files: files[/** @type {keyof typeof files} */ (process.env.IDLEST_TESTS ?? 'all')],
  nodeArguments: ['--enable-source-maps'],
  workerThreads: false,
  concurrency: 2,
  // ava gives up when no test ends for this long. A busy machine needs minutes for some tests.
  timeout: '5m',
  observeRun,
  nonSemVerExperiments: { observeRunsFromConfig: true },
}
