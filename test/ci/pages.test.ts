import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { buildPages } from '../../.ci/pages.mjs'
import { temporaryFolder, write } from './folder.js'

const repository = join(fileURLToPath(import.meta.url), '../../..')

function html(name: string): string {
  return `<html><head>
<link rel="stylesheet" href="${name}.css">
<script type="module" src="${name}.js"></script>
</head></html>
`
}

function project(t: ExecutionContext) {
  const page = (name: string) => ({
    [`src/scene/${name}/main.tsx`]: `import './main.css'\nconsole.log('${name}', '</script>', "$&")\n`,
    [`src/scene/${name}/main.css`]: `.${name} { color: red }\n`,
  })
  const root = temporaryFolder(t, {
    '.ci/pages.mjs': '',
    'tsconfig.json': '{}',
    'src/scene/tsconfig.json': '{}',
    'src/scene/parts/icon.svg': '<svg/>',
    ...page('page'),
    ...page('live'),
    ...page('report'),
    'src/scene/page/index.html': html('scene'),
    'src/scene/live/index.html': html('live'),
    'src/scene/report/index.html': html('report'),
  })
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'), 'junction')
  const errors: string[] = []
  const report = {
    progress: <T>(_title: string, task: () => Promise<T>) => task(),
    error: (text: string) => errors.push(text),
  }
  const read = (name: string) => readFileSync(join(root, 'dist/pages', name), 'utf8')
  return { root, errors, read, run: () => buildPages(root, { report }) }
}

test('pages are bundled once, again after a change, and again where one is gone', async (t) => {
  const { root, read, run } = project(t)
  t.is(await run(), 'made')
  t.is(await run(), 'fresh')
  write(root, 'src/scene/live/main.tsx', "console.log('changed')\n")
  t.is(await run(), 'made')
  t.regex(read('live.js'), /changed/)
  rmSync(join(root, 'dist/pages/scene.css'))
  t.is(await run(), 'made')
  t.regex(read('scene.css'), /\.page/)
})

test('the report is one file, whose script neither ends early nor is taken for a pattern', async (t) => {
  const { root, read, run } = project(t)
  await run()
  const report = read('report.html')
  t.true(report.includes('<style>.report{color:red}'))
  t.is(report.match(/<\/script>/g)?.length, 1)
  t.true(report.includes('$&'))
  t.false(existsSync(join(root, 'dist/pages/report.js')))
})

test('what comes of pages that are gone goes too', async (t) => {
  const { root, run } = project(t)
  await run()
  write(root, 'dist/pages/old.js', '')
  write(root, 'src/scene/parts/icon.svg', '<svg></svg>')
  await run()
  t.false(existsSync(join(root, 'dist/pages/old.js')))
})

test('a module of Node.js comes from its stand-in, and without one nothing is built', async (t) => {
  const { root, errors, read, run } = project(t)
  write(root, 'src/scene/page/main.tsx', "import { sleep } from 'node:some_thing'\nconsole.log(sleep)\n")
  t.is(await run(), 'failed')
  t.regex(errors.join(), /node:some_thing has no stand-in in src\/scene\/browser/)
  write(root, 'src/scene/browser/some-thing.ts', "export const sleep = 'instead'\n")
  t.is(await run(), 'made')
  t.regex(read('scene.js'), /instead/)
})
