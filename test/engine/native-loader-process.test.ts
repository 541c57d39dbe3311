import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { loadBinding } from '../../dist/engine/binding.js'

const run = promisify(execFile)
const built = loadBinding().kind === 'loaded'
const native = built ? test : test.skip

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/native-loader/${name}`, import.meta.url))
}

interface Outcome {
  engine?: string
  code?: string
  message?: string
  causes?: string[]
}

interface Report {
  results: Outcome[]
  warnings: { code: string; message: string }[]
}

async function json<T>(
  script: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
  flags: string[] = [],
): Promise<T> {
  const clean = { ...process.env, NODE_OPTIONS: '', IDLEST_ENGINE: '', IDLEST_BINDING_PATH: '' }
  const command = [...flags, '--no-warnings', fixture(script), ...args]
  const { stdout } = await run(process.execPath, command, { env: { ...clean, ...env } })
  return JSON.parse(stdout) as T
}

const choose = (args: string[], env?: NodeJS.ProcessEnv, flags?: string[]) =>
  json<Report>('choose.mjs', args, env, flags)

const nowhere = { IDLEST_BINDING_PATH: fixture('nothing.node') }

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const permission = major > 23 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13)
const permissionFlags = [permission ? '--permission' : '--experimental-permission', '--allow-fs-read=*']

test('an addon that was built loads: no test of the native engine is left out for another reason', (t) => {
  const folder = new URL('../../dist/native/', import.meta.url)
  const addons = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.node')) : []
  t.is(built, addons.length > 0, `${addons}`)
})

native('native is chosen where it loads', async (t) => {
  for (const args of [['auto'], ['native'], []]) {
    const { results, warnings } = await choose(args)
    t.deepEqual(results, [{ engine: 'native' }, { engine: 'native' }])
    t.deepEqual(warnings, [])
  }
})

test('the environment goes before what is wanted', async (t) => {
  const portable = await choose(['native'], { IDLEST_ENGINE: 'portable' })
  t.is(portable.results[0]?.engine, 'portable')
  t.deepEqual(portable.warnings, [])
  const forced = await choose(['portable'], { ...nowhere, IDLEST_ENGINE: 'native' })
  t.is(forced.results[0]?.code, 'IDLEST_ENGINE')
  const unknown = await choose(['auto'], { IDLEST_ENGINE: 'natve' })
  t.is(unknown.results[0]?.code, 'IDLEST_BAD_OPTION')
})

native('the path of the addon is one from the working directory, or a URL', async (t) => {
  const result = loadBinding()
  if (result.kind !== 'loaded') throw result.error
  for (const path of [relative(process.cwd(), result.from), pathToFileURL(result.from).href]) {
    const { results } = await choose(['native'], { IDLEST_BINDING_PATH: path })
    t.is(results[0]?.engine, 'native', path)
  }
})

test('without the addon auto is portable, with one warning for all threads', async (t) => {
  const { results, warnings } = await choose(['auto', 'worker'], nowhere)
  t.deepEqual(results, [{ engine: 'portable' }, { engine: 'portable' }, { engine: 'portable' }])
  t.is(warnings.length, 1)
  t.is(warnings[0]?.code, 'IDLEST_PORTABLE')
  const message = warnings[0]?.message ?? ''
  for (const part of [process.platform, process.arch, nowhere.IDLEST_BINDING_PATH, 'IDLEST_ENGINE=portable'])
    t.true(message.includes(part))
})

test('without the addon native is an error that says what to do', async (t) => {
  const { results, warnings } = await choose(['native'], nowhere)
  t.is(results[0]?.code, 'IDLEST_ENGINE')
  t.regex(results[0]?.message ?? '', /Set IDLEST_BINDING_PATH/)
  t.deepEqual(results[0]?.causes, [])
  t.deepEqual(warnings, [])
})

native('addons that are not allowed are told of as such', async (t) => {
  for (const flags of [['--no-addons'], permissionFlags]) {
    const forced = await choose(['native'], {}, flags)
    t.is(forced.results[0]?.code, 'IDLEST_ENGINE', flags.join(' '))
    t.deepEqual(forced.results[0]?.causes, ['ERR_DLOPEN_DISABLED'])
    t.regex(forced.results[0]?.message ?? '', /Allow addons/)
    const auto = await choose(['auto'], {}, flags)
    t.is(auto.results[0]?.engine, 'portable')
    t.deepEqual(
      auto.warnings.map(({ code }) => code),
      ['IDLEST_PORTABLE'],
    )
  }
})

// A node that knows no --allow-addons has no such permission to give.
const allowed = built && process.allowedNodeEnvironmentFlags.has('--allow-addons') ? test : test.skip

allowed('addons that are allowed load under the permission model', async (t) => {
  const { results } = await choose(['native'], {}, [...permissionFlags, '--allow-addons'])
  t.is(results[0]?.engine, 'native')
})

native('threads that load the addon first may end at any moment', async (t) => {
  interface Ended {
    picking: number
    errors: string[]
    exitCode: number
    after: string
  }
  const { picking, errors, exitCode, after } = await json<Ended>('workers.mjs', ['100'])
  t.deepEqual(errors, [])
  t.true(picking > 50, 'half of them, and the one that ends itself')
  t.is(exitCode, 7, 'process.exit in a worker')
  t.is(after, 'native')
})

native('a core keeps its view of the table, and gives it back', async (t) => {
  interface Collected {
    count: number
    whileAlive: number
    after: number
  }
  const { count, whileAlive, after } = await json<Collected>('collected.mjs', [], {}, ['--expose-gc'])
  t.true(whileAlive <= count, 'the views of before the growth at most')
  t.true(after >= 2 * count - 2, `${after} of ${2 * count}`)
})

native('pick functions outlive their cores, and end with their threads', async (t) => {
  const { stdout } = await run(process.execPath, ['--expose-gc', fixture('pickers.mjs')])
  t.is(stdout, 'ok\n')
})
