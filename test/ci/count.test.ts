import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { Stats } from '../../.ci/ava.config.mjs'
import { CargoCount, closingLine, countAva, sum, withExit } from '../../.ci/count.mjs'
import { bin, run } from '../../.ci/process.mjs'
import { temporaryFolder } from './folder.js'

const repository = join(fileURLToPath(import.meta.url), '../../..')

const nothing: Stats = {
  byFile: new Map(),
  declaredTests: 0,
  failedHooks: 0,
  failedTests: 0,
  failedWorkers: 0,
  files: 1,
  parallelRuns: undefined,
  finishedWorkers: 0,
  internalErrors: 0,
  remainingTests: 0,
  passedKnownFailingTests: 0,
  passedTests: 0,
  selectedTests: 0,
  sharedWorkerErrors: 0,
  skippedTests: 0,
  timedOutTests: 0,
  timeouts: 0,
  todoTests: 0,
  uncaughtExceptions: 0,
  unhandledRejections: 0,
}

function cargo(output: string) {
  const counter = new CargoCount()
  for (const line of output.split('\n')) counter.read(line)
  return counter.count
}

test('cargo results of several binaries and of doc tests are added up', (t) => {
  const count = cargo(`
running 2 tests
test band::tests::one_member ... ok
test band::tests::none ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/loom.rs (target/debug/deps/loom-1b2c)
test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s

   Doc-tests idlest_core
test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s
`)
  t.deepEqual(count, { passed: 45, failed: 2, skipped: 1 })
})

test('coloured cargo results are counted', (t) => {
  const count = cargo(
    'test result: \x1b[32mok\x1b[0m. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out',
  )
  t.is(count.passed, 7)
})

test('what a test prints of a result is not counted as one', (t) => {
  const count = cargo('note: test result: ok. 7 passed; 0 failed; 0 ignored;')
  t.deepEqual(count, { passed: 0, failed: 0, skipped: 0 })
})

test('a runner that fails without a failed test counts as one failure', (t) => {
  t.deepEqual(withExit({ passed: 3, failed: 0, skipped: 0 }, 101), { passed: 3, failed: 1, skipped: 0 })
  t.deepEqual(withExit({ passed: 3, failed: 2, skipped: 0 }, 101), { passed: 3, failed: 2, skipped: 0 })
  t.deepEqual(withExit({ passed: 3, failed: 0, skipped: 0 }, 0), { passed: 3, failed: 0, skipped: 0 })
})

test('what failed in any way in ava counts as failed, what was skipped as neither', (t) => {
  const stats = { ...nothing, passedTests: 9, passedKnownFailingTests: 1, skippedTests: 2, todoTests: 1 }
  t.deepEqual(countAva(stats, 0), { passed: 10, failed: 0, skipped: 3 })
  const failures = { failedTests: 1, failedHooks: 2, timedOutTests: 4, uncaughtExceptions: 8 }
  t.is(countAva({ ...stats, ...failures, unhandledRejections: 16 }, 1).failed, 31)
})

test('a run of ava in which nothing passes fails, whatever its exit code', (t) => {
  t.is(countAva(undefined, 0).failed, 1)
  t.is(countAva({ ...nothing, skippedTests: 1 }, 0).failed, 1)
})

test('tests that pass in a run of ava that crashes leave one failure', (t) => {
  t.deepEqual(countAva({ ...nothing, passedTests: 3 }, 1), { passed: 3, failed: 1, skipped: 0 })
})

test('the statistics of a real run of ava are counted, also of one that times out', async (t) => {
  const folder = temporaryFolder(t, {
    'package.json': JSON.stringify({ type: 'module', ava: { files: ['*.test.js'], workerThreads: false } }),
    '.ci/ava.config.mjs': readFileSync(join(repository, '.ci/ava.config.mjs'), 'utf8'),
    'some.test.js': `
      import test from 'ava'
      test('passes', (t) => t.pass())
      test('fails', (t) => t.fail())
      test('hangs', () => new Promise((resolve) => setTimeout(resolve, 60_000)))
      test.skip('is skipped', (t) => t.pass())
    `,
  })
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const ava = bin(folder, 'ava', 'ava')
  const file = join(folder, 'stats.json')
  const { code } = await run(process.execPath, [ava, '--config', '.ci/ava.config.mjs', '--timeout', '10s'], {
    cwd: folder,
    env: { IDLEST_AVA_STATS: file },
    quiet: true,
  })
  t.is(code, 1)
  t.deepEqual(countAva(JSON.parse(readFileSync(file, 'utf8')), 1), { passed: 1, failed: 2, skipped: 1 })
})

test('the closing line has the sums', (t) => {
  const total = sum([
    { passed: 12, failed: 0, skipped: 1 },
    { passed: 30, failed: 2, skipped: 0 },
  ])
  t.is(closingLine(total), '42 passed, 2 failed')
})
