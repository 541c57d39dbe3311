// The configuration of package.json, and an observer that leaves ava's own statistics of the run in a file.
// Not TAP: ava's TAP reporter crashes when a test times out, and its report for people is the better one.
// Not the report's last lines either: they leave out how many passed when one failed.
import { readFileSync, writeFileSync } from 'node:fs'

/** @typedef {Extract<import('ava/internal').Event, { type: 'stats' }>['stats']} Stats */

const { ava } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** @param {import('ava/internal').ObservedRun} run */
async function observeRun({ events }) {
  /** @type {Stats | undefined} */
  let stats
  const file = process.env.IDLEST_AVA_STATS
  process.on('exit', () => {
    if (file && stats) writeFileSync(file, JSON.stringify(stats))
  })
  for await (const event of events) {
    if (event.type === 'stats') stats = event.stats
  }
}

export default { ...ava, observeRun, nonSemVerExperiments: { observeRunsFromConfig: true } }
