import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { compile } from '../../.ci/compile.mjs'
import { temporaryFolder, write } from './folder.js'

const repository = join(fileURLToPath(import.meta.url), '../../..')

function project(t: ExecutionContext) {
  const root = temporaryFolder(t, {
    'tsconfig.json': JSON.stringify({
      compilerOptions: { target: 'es2022', module: 'nodenext', types: [], noEmit: true },
    }),
    'src/tsconfig.json': readFileSync(join(repository, 'src/tsconfig.json'), 'utf8'),
    'package.json': '{ "type": "module" }',
    'src/index.ts': "export { one } from './parts/one.js'\n",
    'src/parts/one.ts': 'export const one = 1\n',
    'src/cli/main.ts': '#!/usr/bin/env node\nexport {}\n',
  })
  const exists = (path: string) => existsSync(join(root, path))
  const errors: string[] = []
  const report = {
    progress: <T>(_title: string, task: () => Promise<T>) => task(),
    error: (text: string) => errors.push(text),
  }
  return { root, exists, errors, run: () => compile(root, { packages: repository, report }) }
}

test.serial('sources are compiled once, and again after a change', async (t) => {
  const { root, run } = project(t)
  t.is(await run(), 'made')
  t.is(await run(), 'fresh')
  write(root, 'src/parts/one.ts', 'export const one = 11\n')
  t.is(await run(), 'made')
  t.regex(readFileSync(join(root, 'dist/parts/one.js'), 'utf8'), /one = 11/)
})

test.serial('outputs of deleted sources go, the native core stays', async (t) => {
  const { root, exists, run } = project(t)
  await run()
  write(root, 'dist/native/index.d.ts', '')
  write(root, 'src/index.ts', 'export {}\n')
  rmSync(join(root, 'src/parts'), { recursive: true })
  t.is(await run(), 'made')
  t.false(['.js', '.js.map', '.d.ts'].some((suffix) => exists(`dist/parts/one${suffix}`)))
  t.true(exists('dist/index.js'))
  t.true(exists('dist/native/index.d.ts'))
})

test.serial('an output that was deleted comes back', async (t) => {
  const { root, exists, run } = project(t)
  await run()
  rmSync(join(root, 'dist/parts/one.d.ts'))
  t.is(await run(), 'made')
  t.true(exists('dist/parts/one.d.ts'))
})

test.serial('sources that do not compile fail with what tsc says, every time', async (t) => {
  const { root, errors, run } = project(t)
  write(root, 'src/parts/one.ts', "export const one: number = 'one'\n")
  t.is(await run(), 'failed')
  t.is(await run(), 'failed')
  t.is(errors.length, 2)
  for (const error of errors) t.regex(error, /src\/parts\/one\.ts.*TS2322/)
})

const onPosix = process.platform === 'win32' ? test.serial.skip : test.serial
onPosix('the command line tool can be executed', async (t) => {
  const { root, run } = project(t)
  await run()
  t.is(statSync(join(root, 'dist/cli/main.js')).mode & 0o111, 0o111)
})
