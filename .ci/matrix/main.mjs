// `npm run test:matrix [-- --only 24,bun] [-- --json FILE] [-- test/path…]`: the tests on every runtime that idlest is
// for, each brought in its exact version. All tests on each Node; on Bun and Deno the acceptance part.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf, stop } from '../arguments.mjs'
import { build } from '../build.mjs'
import { runAva, runSuite } from '../tests/suite.mjs'
import { acceptance, isKnown, leftOut, stale, withoutHanging } from './acceptance.mjs'
import { closingLines, markdown } from './report.mjs'
import { installRuntimes, names, probe } from './runtimes.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values, positionals } = argumentsOf('test:matrix', {
  allowPositionals: true,
  options: { only: { type: 'string' }, json: { type: 'string' } },
})

/**
 * @param {string | undefined} only
 * @returns {string[]}
 */
function wanted(only) {
  if (only === undefined) return names
  const asked = only.split(',')
  const unknown = asked.filter((name) => !names.includes(name))
  if (unknown.length === 0) return asked
  return stop(`npm run test:matrix: --only ${unknown.join(',')}: expected some of ${names.join(',')}`)
}

/**
 * @param {string} name
 * @returns {Promise<import('./report.mjs').Row>}
 */
async function test(name) {
  const runtime = await probe(root, name)
  if (runtime === undefined) return { name, absent: `npm has none for ${process.platform} ${process.arch}` }
  const { kind, version, engine, addon } = runtime
  const part = positionals.length > 0 ? 'given' : kind === 'node' ? 'all' : 'acceptance'
  const tests = part === 'acceptance' ? acceptance : positionals
  console.log(`\n── ${kind} ${version}: picks by ${engine}, the addon ${addon}`)
  const start = performance.now()
  const outcome = await runSuite(root, tests, {
    ava: (some) => runAva(root, runtime, [...some, ...withoutHanging(kind)]),
    isKnown: (fault) => isKnown(kind, fault),
    say: console.log,
  })
  const row = {
    ...{ name, kind, version, engine, addon, part, ...outcome },
    seconds: Math.round((performance.now() - start) / 1000),
    known: [...outcome.known, ...leftOut(kind, outcome.files)],
    stale: stale(kind, outcome),
  }
  console.log(`\n${closingLines(row)}`)
  return row
}

async function all() {
  const runtimes = wanted(values.only)
  const broken = await build(root, { tests: true })
  if (broken.some(({ fatal }) => fatal) || !(await installRuntimes(root))) return false
  const rows = []
  for (const name of runtimes) rows.push(await test(name))
  const { platform, arch } = process
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ platform, arch, rows }, null, 2)}\n`)
  console.log(`\n${markdown(rows)}`)
  // One that was asked for by name and can't be had was not tested.
  return rows.every((row) => ('absent' in row ? values.only === undefined : row.failed === 0))
}

if (!(await all())) process.exitCode = 1
