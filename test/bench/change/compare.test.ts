import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { type Change, changesTable, compareCases, hasSlowed } from '../../../bench/change/compare.js'
import { type Results, writeResults } from '../../../bench/results.js'
import { caseResult, resultsOf } from '../results-of.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A case in floors, with eight of ten rounds so far from it. */
function one(median: number, noise: number, key = 'select()') {
  return { key, floors: { median, p10: median * (1 - noise), p90: median * (1 + noise) } }
}

function verdict(
  base: ReturnType<typeof one>,
  head: ReturnType<typeof one>,
  threshold?: number,
): string | undefined {
  return compareCases([base], [head], threshold)[0]?.verdict
}

test('a case got slower where it is beyond the threshold and beyond the noise of both', (t) => {
  t.is(verdict(one(1, 0.05), one(1.3, 0.05)), 'slower')
  t.is(verdict(one(1, 0.05), one(1.2, 0.05)), 'same')
  // The rounds of both overlap.
  t.is(verdict(one(1, 0.05), one(1.3, 0.3)), 'noisy')
  t.is(verdict(one(1, 0.4), one(1.3, 0.05)), 'noisy')
  t.is(verdict(one(1, 0.05), one(1.2, 0.05), 1.1), 'slower')
})

test('a case got faster by the same rule', (t) => {
  t.is(verdict(one(1.3, 0.05), one(1, 0.05)), 'faster')
  t.is(verdict(one(1.3, 0.5), one(1, 0.05)), 'noisy')
})

test('cases that only one has are told, and make nothing slower', (t) => {
  const changes = compareCases([one(1, 0.1, 'old')], [one(9, 0.1, 'young')])
  t.deepEqual(
    changes.map(({ key, verdict }) => [key, verdict]),
    [
      ['old', 'gone'],
      ['young', 'new'],
    ],
  )
  t.false(hasSlowed(changes))
})

test('the table has what got slower first, and does not list what is the same', (t) => {
  const base = [one(1, 0.05, 'same'), one(1, 0.05, 'up'), one(1, 0.05, 'down'), one(1, 0.05, 'upper')]
  const head = [one(1.1, 0.05, 'same'), one(1.5, 0.05, 'up'), one(0.5, 0.05, 'down'), one(2, 0.05, 'upper')]
  const changes: Change[] = compareCases(base, head)
  const lines = changesTable(changes, 1.25).split('\n')
  t.regex(
    lines[0] ?? '',
    /^Of 4 cases 2 got slower by more than 1\.25 times .*, 1 faster, 1 are the same; 0 differ/,
  )
  t.deepEqual(
    lines.slice(4).map((line) => line.split(' | ').slice(0, 3).join(' | ')),
    ['| upper | **slower** | 2.00', '| up | **slower** | 1.50', '| down | faster | 0.500'],
  )
})

async function compareFiles(
  t: ExecutionContext,
  base: Results,
  head: Results,
  ...more: string[]
): Promise<{ code: number; stdout: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-bench-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const files = [join(folder, 'base.json'), join(folder, 'head.json')] as const
  writeResults(base, files[0])
  writeResults(head, files[1])
  const args = [
    '--import',
    'tsx',
    'bench/change/main.ts',
    ...files,
    ...more.map((arg) => arg.replace('FOLDER', folder)),
  ]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, folder })
    })
  })
}

test('two files are compared: 1 where something got slower, and the table is written', async (t) => {
  const before = resultsOf([caseResult('select()', 'native', 8, 16)])
  const after = resultsOf([caseResult('select()', 'native', 8, 32)])
  const slower = await compareFiles(t, before, after, '--markdown', 'FOLDER/table.md')
  t.is(slower.code, 1)
  t.regex(
    slower.stdout,
    /\| select\(\) · native · 8 nodes \| \*\*slower\*\* \| 2\.00 \| 0\.800 \(0\.720-0\.880\) \| 1\.60/,
  )
  t.is(await readFile(join(slower.folder, 'table.md'), 'utf8'), slower.stdout)
  t.is((await compareFiles(t, before, after, '--threshold', '2.5')).code, 0)
  t.is((await compareFiles(t, after, before)).code, 0)
})

test('a file that is not there, or a threshold that is none, is told apart from a slower case', async (t) => {
  const results = resultsOf([caseResult('select()', 'native', 8, 16)])
  t.is((await compareFiles(t, results, results, '--threshold', '0.5')).code, 2)
  const code = await new Promise((resolve) => {
    const args = ['--import', 'tsx', 'bench/change/main.ts', 'no.json', 'none.json']
    execFile(process.execPath, args, { cwd: root }, (error) => resolve(error?.code))
  })
  t.is(code, 2)
})
