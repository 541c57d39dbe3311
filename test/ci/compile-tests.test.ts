import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { compiledPath, compileTests, sourcePath } from '../../.ci/tests/compile.mjs'
import { temporaryFolder, write } from './folder.js'

const NUMBERS = 'test/part/numbers.test.ts'

function project(t: ExecutionContext) {
  const root = temporaryFolder(t, {
    'package.json': '{ "type": "module" }',
    'dist/one.js': 'export const one = 1\n',
    'test/part/two.ts': 'export const two: number = 2\n',
    [NUMBERS]: `import { one } from '../../dist/one.js'
      import { two } from './two.js'
      export const three: number = one + two
      export const { three: later } = { three: (await import('../../dist/one.js')).one + 2 }
      export const here = import.meta.url
    `,
  })
  const imported = async () =>
    (await import(pathToFileURL(join(root, compiledPath(NUMBERS))).href)) as Record<string, unknown>
  return { root, imported, run: () => compileTests(root, { quiet: true }) }
}

test('compiled tests import each other and everything else, and know where their sources are', async (t) => {
  const { root, imported, run } = project(t)
  t.is(await run(), 'made')
  const { three, later, here } = await imported()
  t.deepEqual([three, later], [3, 3])
  t.is(here, pathToFileURL(join(root, NUMBERS)).href)
})

test('tests are compiled once, and again after a change', async (t) => {
  const { root, run } = project(t)
  t.is(await run(), 'made')
  t.is(await run(), 'fresh')
  write(root, 'test/part/two.ts', 'export const two: number = 22\n')
  t.is(await run(), 'made')
  t.regex(readFileSync(join(root, compiledPath('test/part/two.ts')), 'utf8'), /two = 22/)
})

test('what was compiled of a test that is gone goes too', async (t) => {
  const { root, run } = project(t)
  await run()
  rmSync(join(root, NUMBERS))
  t.is(await run(), 'made')
  t.false(existsSync(join(root, compiledPath(NUMBERS))))
  t.false(existsSync(join(root, `${compiledPath(NUMBERS)}.map`)))
  t.true(existsSync(join(root, compiledPath('test/part/two.ts'))))
})

test('a test that does not compile fails the compilation, every time', async (t) => {
  const { root, run } = project(t)
  write(root, NUMBERS, 'const = 1\n')
  t.is(await run(), 'failed')
  t.is(await run(), 'failed')
})

test('a compiled test has the name of its source in what is said of it', (t) => {
  const { root } = project(t)
  t.is(sourcePath(join(root, compiledPath(NUMBERS))), join(root, NUMBERS))
  t.is(sourcePath(join(root, NUMBERS)), join(root, NUMBERS))
  t.is(compiledPath('--timeout'), '--timeout')
})
