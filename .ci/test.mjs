// `node .ci/test.mjs`: builds, then checks and tests everything, and ends with `N passed, N failed`.
// `--lint`: the checks alone. `--long`: the tests that take minutes. Other arguments go to ava, which then runs alone:
// `npm test -- test/table/table.test.ts`.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declarations } from './api/declarations.mjs'
import { build } from './build.mjs'
import { CargoCount, closingLine, sum, withExit } from './count.mjs'
import { loom, noRust } from './native.mjs'
import { bin, run } from './process.mjs'
import { runAva, runSuite, tryLines } from './tests/suite.mjs'

const root = join(fileURLToPath(import.meta.url), '../..')
const args = process.argv.slice(2)
const lintOnly = args.includes('--lint')
const avaOnly = args.length > 0 && !lintOnly
const forAva = args.filter((arg) => arg !== '--long')
const firstFlag = forAva.findIndex((arg) => arg.startsWith('-'))
const tests = firstFlag < 0 ? forAva : forAva.slice(0, firstFlag)
// A file that runs again does so with the same flags.
const flags = forAva.slice(tests.length)
const among = args.includes('--long') ? 'long' : tests.length > 0 ? 'all' : 'quick'

/** @type {string[]} the steps that did not pass */
const failed = []
/** @type {import('./count.mjs').Count[]} */
const counts = []

/**
 * @param {string} title
 * @param {string} file
 * @param {string[]} command
 */
async function check(title, file, command) {
  console.log(`\n── ${title}`)
  const { code } = await run(file, command, { cwd: root })
  if (code !== 0) failed.push(title)
}

/**
 * @param {string} title
 * @param {string[]} command
 * @param {Record<string, string>} [env]
 */
async function cargoTest(title, command, env) {
  console.log(`\n── ${title}`)
  const tests = new CargoCount()
  const onLine = (/** @type {string} */ line) => {
    tests.read(line)
    console.log(line)
  }
  const { code } = await run('cargo', ['test', '--locked', '--no-fail-fast', ...command], {
    cwd: root,
    env,
    onLine,
  })
  if (code !== 0) failed.push(title)
  counts.push(withExit(tests.count, code))
}

async function ava() {
  console.log('\n── ava')
  const runtime = { kind: /** @type {const} */ ('node'), path: process.execPath }
  const outcome = await runSuite(root, tests, {
    ava: (some) => runAva(root, runtime, [...some, ...flags], { among }),
    isKnown: () => false,
    say: console.log,
  })
  counts.push(outcome)
  for (const line of tryLines(outcome)) console.log(line)
  if (outcome.failed > 0) failed.push('ava')
}

async function all() {
  const broken = await build(root, { tests: !lintOnly })
  failed.push(...broken.map(({ step }) => step))
  if (broken.some(({ step }) => step === 'node' || step === 'install')) {
    counts.push({ passed: 0, failed: 1, skipped: 0 })
    return
  }
  const isBroken = (/** @type {string} */ name) => broken.some(({ step }) => step === name)
  const compiled = !isBroken('compile')

  if (!avaOnly) {
    await check('biome', process.execPath, [
      bin(root, '@biomejs/biome', 'biome'),
      'ci',
      '--error-on-warnings',
      '.',
    ])
    await check('what both languages have', process.execPath, ['.ci/shared.mjs'])
    await check("checks of an algorithm's kind", process.execPath, ['.ci/kinds.mjs'])
    if (compiled) {
      const tsc = bin(root, 'typescript', 'tsc')
      await check('tsc of the tests', process.execPath, [tsc, '--noEmit', '-p', '.'])
      await check('tsc of the pages', process.execPath, [tsc, '--noEmit', '-p', 'src/scene'])
    }
    const reason = await noRust(root)
    if (reason) console.log(`\n── checks and tests in Rust left out: ${reason.split(':')[0]}`)
    else await rust()
  }
  if (lintOnly) return
  if (compiled && !avaOnly) await prepareApi()
  if (compiled && !isBroken('tests')) await ava()
  else counts.push({ passed: 0, failed: 1, skipped: 0 })
}

// Else the tests that are first to need them would have to wait for their download.
async function prepareApi() {
  try {
    await declarations(root)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
}

async function rust() {
  await check('cargo fmt', 'cargo', ['fmt', '--all', '--check'])
  await check('clippy', 'cargo', [
    ...['clippy', '--workspace', '--all-targets', '--locked'],
    ...['--', '-D', 'warnings'],
  ])
  if (lintOnly) return
  await cargoTest('cargo test', ['--workspace'])
  // Not in release: with LTO of all that the tests use, it compiles for minutes to save seconds.
  const models = loom(root)
  await cargoTest('loom', models.args, models.env)
}

await all()
const total = sum(counts)
console.log(failed.length > 0 ? `\ndid not pass: ${failed.join(', ')}` : '')
if (total.skipped > 0) console.log(`${total.skipped} skipped`)
if (!lintOnly) console.log(closingLine(total))
if (failed.length > 0 || total.failed > 0) process.exitCode = 1
