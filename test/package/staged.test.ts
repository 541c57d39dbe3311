import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { type Checked, guard } from '../../.ci/package/guard.mjs'
import { type Packed, pack } from '../../.ci/package/pack.mjs'
import { type Staged, stage } from '../../.ci/package/stage.mjs'
import { npm } from '../../.ci/process.mjs'
import { libcOf } from '../../dist/engine/libc.js'
import { buildNames, othersThan, packageOf } from '../../dist/engine/targets.js'
import { Installed, manifestOf } from './installed.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const into = mkdtempSync(join(tmpdir(), 'idlest-stage-'))
test.after.always(() => rmSync(into, { recursive: true, force: true }))

const libc = process.platform === 'linux' ? libcOf(process.execPath) : undefined
const own = packageOf(buildNames(process.platform, process.arch, libc)[0] ?? '')

let staged: Staged[]
let packed: Packed[]
let checked: Checked[]
/** Whether this machine has built an addon to publish. */
let built: boolean
let version: string

test.before(async () => {
  staged = await stage(root, { into })
  packed = await pack(staged, into)
  checked = await Promise.all(packed.map((tarball) => guard(tarball)))
  built = staged.some(({ name }) => name === own)
  version = manifestOf(root).version
})

function folderOf(name: string): string {
  const found = staged.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} is not staged`)
  return found.folder
}

/** The packages but some, installed. */
function installed(t: ExecutionContext, ...without: string[]): Promise<Installed> {
  return new Installed(t).add(
    root,
    packed.filter(({ name }) => !without.includes(name)),
  )
}

test('the tarballs pass the guard, and are as small as they are to be', (t) => {
  for (const { name, problems } of checked) t.deepEqual(problems, [], name)
  t.is(checked.at(-1)?.name, 'idlest', 'published last, since it depends on the others')
})

test('each package has what it is for, and nothing else', (t) => {
  t.deepEqual(readdirSync(folderOf('idlest')).sort(), [
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'dashboard.json', 'dist', 'package.json'],
  ])
  const files = readdirSync(join(folderOf('idlest'), 'dist'), { recursive: true, withFileTypes: true })
  for (const file of files) if (file.isFile()) t.regex(file.name, /\.(c?js|d\.c?ts)$/)
  t.true(readdirSync(folderOf('@idlest/pages')).includes('scene.html'))
  if (built) {
    const addon = `idlest.${own.replace('@idlest/binding-', '')}.node`
    t.deepEqual(readdirSync(folderOf(own)).sort(), ['LICENSE', 'README.md', addon, 'package.json'])
  }
})

test('the main package depends on all others, in its own version, and runs nothing when it is installed', (t) => {
  const manifest = manifestOf(folderOf('idlest'))
  const names = [...othersThan([]).map(packageOf), '@idlest/pages']
  t.deepEqual(manifest.optionalDependencies, Object.fromEntries(names.map((name) => [name, version])))
  for (const field of ['scripts', 'devDependencies', 'napi', 'ava', 'private'])
    t.is(manifest[field], undefined)
})

test('code keeps its names and lines, without comments, and the command can be run', (t) => {
  const code = readFileSync(join(folderOf('idlest'), 'dist/errors.js'), 'utf8')
  t.true(code.includes('class NoNodesError'))
  t.notRegex(code, /^\s*(\/\/|\/\*\*)/m)
  t.regex(code, /^ {2}constructor\(.*\) \{$/m)
  const command = join(folderOf('idlest'), 'dist/cli/main.js')
  t.true(readFileSync(command, 'utf8').startsWith('#!/usr/bin/env node\n'))
  if (process.platform !== 'win32') t.is(statSync(command).mode & 0o111, 0o111)
})

test('every export is there for those who import and those who require', async (t) => {
  const project = await installed(t)
  for (const peer of ['@grpc/grpc-js', '@opentelemetry/api', 'prom-client']) project.link(root, peer)
  const names = Object.keys(manifestOf(folderOf('idlest')).exports).map((path) => `idlest${path.slice(1)}`)
  t.true(names.length >= 8)
  const modules = names.filter((name) => !/json$|polling-thread$/.test(name))
  const { stdout, stderr } = await project.program(
    'program.cjs',
    `for (const name of ${JSON.stringify(names)}) require.resolve(name)
     const required = ${JSON.stringify(modules)}.map((name) => require(name))
     Promise.all(${JSON.stringify(modules)}.map((name) => import(name))).then((imported) => {
       for (const [at, module] of imported.entries())
         for (const [name, value] of Object.entries(module)) if (required[at][name] !== value) throw new Error(name)
       console.log(imported.length, require('idlest/grafana/dashboard.json').title, require('idlest/package.json').version)
     })`,
  )
  t.is(stderr, '')
  t.is(stdout, `${modules.length} idlest ${version}\n`)
})

test('an uncaught error begins with the statement that threw it, and not with a page of code', async (t) => {
  const project = await installed(t, own)
  const { code, stderr } = await project.program(
    'program.mjs',
    `import { createBalancer } from 'idlest'
     createBalancer({ nodes: ['a'], poll: { intervall: 5 } })`,
  )
  t.is(code, 1)
  const [place = '', statement = ''] = stderr.split('\n')
  t.regex(place, /\/options\.js:\d+$/)
  t.regex(statement, /^ *return new OptionError\(.*\);$/)
  t.true(stderr.includes('OptionError: option poll.intervall is unknown'))
})

const PICKS = `
  const balancer = createBalancer({ nodes: ['a'], poll: false })
  console.log(select(['b']), balancer.select(), balancer.engine)`

test('programs pick, natively where there is an addon', async (t) => {
  const project = await installed(t)
  const expected = `b a ${built ? 'native' : 'portable'}\n`
  const esm = await project.program('program.mjs', `import { createBalancer, select } from 'idlest'${PICKS}`)
  t.is(esm.stdout, expected)
  const cjs = await project.program(
    'program.cjs',
    `const { createBalancer, select } = require('idlest')${PICKS}`,
  )
  t.is(cjs.stdout, expected)
  if (built) t.is(esm.stderr + cjs.stderr, '')
})

test('without the addon programs pick all the same, and are told once what to install', async (t) => {
  const project = await installed(t, own)
  const text = `import { createBalancer, select } from 'idlest'${PICKS}`
  const { stdout, stderr } = await project.program('program.mjs', text)
  t.is(stdout, 'b a portable\n')
  t.is(stderr.split('IDLEST_PORTABLE').length - 1, 1)
  t.true(stderr.includes(`npm install ${own}@${version}`), stderr)
  t.true(stderr.includes(`no native engine for ${process.platform} ${process.arch}`), stderr)
})

test('the polling thread starts from the package', async (t) => {
  const project = await installed(t)
  const { code, stdout, stderr } = await project.program(
    'program.mjs',
    `import { createBalancer } from 'idlest'
     const poll = { port: 9, startupJitter: 0 }
     const balancer = createBalancer({ nodes: ['127.0.0.1:9'], engine: 'portable', poll })
     await balancer.ready()
     console.log(balancer.stats().poll.asked)
     await balancer.close()`,
  )
  t.deepEqual([code, stdout], [0, '1\n'])
  t.notRegex(stderr, /IDLEST_NO_POLLING_THREAD|IDLEST_WORKER_RESTART/)
})

const SERVES = `
  import { createBalancer } from 'idlest'
  const balancer = createBalancer({ nodes: ['a'], engine: 'portable', poll: false })
  const { url } = await balancer.serve()
  for (const path of ['', 'snapshot']) {
    const response = await fetch(url + path)
    console.log(response.status, (await response.text()).slice(0, 200))
  }
  await balancer.close()`

test('the pages come from a package of their own', async (t) => {
  const project = await installed(t)
  const served = await project.program('program.mjs', SERVES)
  t.regex(served.stdout, /^200 <!doctype html>/i)
})

test('without it there are no pages, and it is said how to have them; all else works', async (t) => {
  const project = await installed(t, '@idlest/pages')
  const command = `npm install @idlest/pages@${version}`
  const served = await project.program('program.mjs', SERVES)
  t.regex(served.stdout, /^500 There is no page to show: @idlest\/pages is not installed/)
  t.true(served.stdout.includes(command))
  t.regex(served.stdout, /\n200 \{/)
  const cli = join(project.folder, 'node_modules/idlest/dist/cli/main.js')
  const scene = await project.node(cli, 'scene', '--port', '0')
  t.deepEqual([scene.code, scene.stdout], [1, ''])
  t.true(scene.stderr.includes(command), scene.stderr)
  t.is((await project.node(cli, '--version')).stdout, `${version}\n`)
})

test('pages of another version are not shown', async (t) => {
  const project = await installed(t)
  const manifest = manifestOf(folderOf('@idlest/pages'))
  project.write('node_modules/@idlest/pages/package.json', JSON.stringify({ ...manifest, version: '0.0.1' }))
  const served = await project.program('program.mjs', SERVES)
  t.true(served.stdout.includes(`@idlest/pages is 0.0.1: tested is ${version}`), served.stdout)
})

test('types are right for modules and for CommonJS, however TypeScript resolves', async (t) => {
  const project = await installed(t)
  for (const name of ['typescript', '@typescript']) project.link(root, name)
  const uses = `
    const balancer: Balancer<string> = createBalancer({ nodes: ['a'], poll: false })
    const lease: Lease<string> = balancer.acquire()
    const node: 'a' | 'b' = select(['a', 'b'] as const)
    const error: NoNodesError | undefined = (lease as unknown) instanceof NoNodesError ? new NoNodesError() : undefined
    // @ts-expect-error a string
    const wrong: number = select(['a'])
    export { error, node, wrong }`
  const names = 'NoNodesError, createBalancer, select, type Balancer, type Lease'
  project.write('module.mts', `import { ${names} } from 'idlest'\nimport 'idlest/undici'${uses}`)
  project.write(
    'common.cts',
    `import { ${names} } from 'idlest'\nimport 'idlest/grpc'\nimport 'idlest/undici'${uses}`,
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--types', '']
  const all = ['module.mts', 'common.cts']
  for (const [files, ...options] of [
    [all, '--module', 'node16'],
    [all, '--module', 'nodenext'],
    [['module.mts'], '--module', 'esnext', '--moduleResolution', 'bundler'],
  ] as [string[], ...string[]][]) {
    const { stdout } = await project.node(tsc, ...strict, ...options, ...files)
    t.is(stdout, '', options.join(' '))
  }
})

test('where all addons are asked for, those that are missing are named', async (t) => {
  const error = await t.throwsAsync(stage(root, { into, all: true }))
  for (const target of othersThan([own.replace('@idlest/binding-', '')])) {
    t.true(error?.message.includes(`idlest.${target}.node`), error?.message)
  }
})

test('the clone itself is not packed, and it is said what is', async (t) => {
  const { code, output } = await npm(['pack', '--dry-run'], { cwd: root, quiet: true })
  t.not(code, 0)
  t.true(output.includes('npm run package'))
})
