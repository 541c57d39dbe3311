import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { FileStats, Written } from '../../.ci/tests/ava.config.mjs'
import { compiledPath } from '../../.ci/tests/compile.mjs'
import { type Run, runAva, runSuite } from '../../.ci/tests/suite.mjs'
import { temporaryFolder } from './folder.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

function stats(passed: number, failed = 0, remaining = 0): FileStats {
  return {
    declaredTests: passed + failed + remaining,
    failedHooks: 0,
    failedTests: failed,
    internalErrors: 0,
    remainingTests: remaining,
    passedKnownFailingTests: 0,
    passedTests: passed,
    selectedTests: passed + failed + remaining,
    selectingLines: false,
    skippedTests: 0,
    todoTests: 0,
    uncaughtExceptions: 0,
    unhandledRejections: 0,
  }
}

/** A run of ava: what came of each file, and what failed there. */
function ran(code: number, files: Record<string, [stats: FileStats, ...failed: string[]]>): Run {
  const entries = Object.entries(files).map(([file, rest]) => [join(root, file), rest] as const)
  const written = {
    byFile: Object.fromEntries(entries.map(([file, [of]]) => [file, of])),
    faults: entries.flatMap(([file, [, ...failed]]) =>
      failed.map((title) => ({ file, title, what: 'failed' })),
    ),
  } as Partial<Written> as Written
  return { code, written }
}

/** Runs a suite whose runs of ava end so, one after the other. */
async function suite(runs: Run[], known: string[] = []) {
  const asked: string[][] = []
  const outcome = await runSuite(root, ['test/**'], {
    ava: async (tests) => {
      asked.push(tests)
      return runs[asked.length - 1] ?? { code: 1, written: undefined }
    },
    isKnown: ({ title = '' }) => known.includes(title),
    say: () => {},
  })
  return { ...outcome, asked }
}

test('a file that fails beside others is run again alone, and then counts as it did there', async (t) => {
  const { passed, failed, again, asked } = await suite([
    ran(1, { 'test/a.test.ts': [stats(3)], 'test/b.test.ts': [stats(1, 1), 'slow'] }),
    ran(0, { 'test/b.test.ts': [stats(2)] }),
  ])
  t.deepEqual([passed, failed], [5, 0])
  t.deepEqual(again, ['test/b.test.ts'])
  t.deepEqual(asked, [['test/**'], ['test/b.test.ts']])
})

test('where many files fail, none runs again: the load of the machine is not the cause', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `test/${name}.test.ts`)
  const all = ran(1, Object.fromEntries(names.map((name) => [name, [stats(1, 1), 'wrong']])))
  const { passed, failed, again, asked } = await suite([all, ran(0, { 'test/a.test.ts': [stats(2)] })])
  t.deepEqual([passed, failed, again], [5, 5, []])
  t.is(asked.length, 1)
})

test('what fails alone too has failed', async (t) => {
  const { passed, failed, again, faults } = await suite([
    ran(1, { 'test/b.test.ts': [stats(1, 2), 'slow', 'wrong'] }),
    ran(1, { 'test/b.test.ts': [stats(2, 1), 'wrong'] }),
  ])
  t.deepEqual([passed, failed], [2, 1])
  t.deepEqual(again, [])
  t.deepEqual(faults, [{ file: 'test/b.test.ts', title: 'wrong', what: 'failed' }])
})

test('what is known not to pass is counted by itself, and is not run again', async (t) => {
  const { passed, failed, known, asked } = await suite(
    [ran(1, { 'test/a.test.ts': [stats(3, 1), 'other'] })],
    ['other'],
  )
  t.deepEqual([passed, failed, known.length], [3, 0, 1])
  t.is(asked.length, 1)
})

test('a run that ends badly for no test, or tested nothing, has failed', async (t) => {
  t.is((await suite([ran(1, { 'test/a.test.ts': [stats(3)] })])).failed, 1)
  t.is((await suite([ran(0, {})])).failed, 1)
  t.is((await suite([{ code: 127, written: undefined }])).failed, 1)
})

test('a file that did not run to its end has failed', async (t) => {
  const broken = ran(1, { 'test/a.test.ts': [stats(3)], 'test/b.test.ts': [stats(1, 0, 2)] })
  t.is((await suite([broken, ran(1, { 'test/b.test.ts': [stats(1, 0, 2)] })])).failed, 1)
  t.is((await suite([broken, { code: 1, written: undefined }])).failed, 1)
})

test('what failed in any way in ava counts as failed, what was skipped as neither', async (t) => {
  const known = { ...stats(9, 1), passedKnownFailingTests: 1, skippedTests: 2, todoTests: 1 }
  const run = ran(1, {
    'test/a.test.ts': [known, 'fails'],
    'test/b.test.ts': [stats(1), 'process-exit', 'hangs'],
  })
  const { passed, failed, skipped } = await suite([run, run, run])
  t.deepEqual([passed, failed, skipped], [20, 2, 6])
})

test('a run of ava in which nothing passes fails, whatever its exit code', async (t) => {
  t.is((await suite([{ code: 0, written: undefined }])).failed, 1)
  t.is(
    (await suite([ran(0, { 'test/a.test.ts': [{ ...stats(0), declaredTests: 1, skippedTests: 1 }] })]))
      .failed,
    1,
  )
})

test('tests that pass in a run of ava that crashes leave one failure', async (t) => {
  const { passed, failed } = await suite([ran(1, { 'test/a.test.ts': [stats(3)] })])
  t.deepEqual([passed, failed], [3, 1])
})

test('the statistics of a real run of ava are counted, also of one that times out', async (t) => {
  const own = (file: string) => readFileSync(join(root, file), 'utf8')
  const folder = temporaryFolder(t, {
    'package.json': JSON.stringify({ type: 'module' }),
    ...Object.fromEntries(
      ['ava.mjs', 'ava.config.mjs', 'compile.mjs'].map((file) => [
        `.ci/tests/${file}`,
        own(`.ci/tests/${file}`),
      ]),
    ),
    ...Object.fromEntries(['process.mjs', 'stamp.mjs'].map((file) => [`.ci/${file}`, own(`.ci/${file}`)])),
    [compiledPath('test/some.test.ts')]: `
      import test from 'ava'
      test('passes', (t) => t.pass())
      test('fails', (t) => t.fail())
      test('hangs', () => new Promise((resolve) => setTimeout(resolve, 60_000)))
      test.skip('is skipped', (t) => t.pass())
    `,
  })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const runtime = { kind: 'node', path: process.execPath } as const
  const outcome = await runSuite(folder, ['test/some.test.ts'], {
    ava: (tests) => runAva(folder, runtime, [...tests, '--timeout', '5s'], { quiet: true }),
    isKnown: () => false,
    say: () => {},
  })
  t.deepEqual([outcome.passed, outcome.failed, outcome.skipped], [1, 2, 1])
  t.deepEqual(
    outcome.faults.map(({ file, title }) => [file, title]),
    [
      ['test/some.test.ts', 'fails'],
      ['test/some.test.ts', 'hangs'],
    ],
  )
})
