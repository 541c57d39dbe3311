import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { engines } from '../support/engines.js'
import { run, type Start } from './program.js'

interface Accepted {
  engine: unknown
  picks: unknown
  leases: unknown
  keys: unknown
  polls: unknown
  thread: unknown
  errors: unknown
  file?: unknown
  warnings: string[]
}

const folder = mkdtempSync(join(tmpdir(), 'idlest-flags-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

const root = fileURLToPath(new URL('../..', import.meta.url))
const native = engines[0] as string
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isStable = major > 23 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13)
const PERMISSION = isStable ? '--permission' : '--experimental-permission'
// Where Node.js knows no such flag, the model shuts addons out.
const canAllowAddons = process.allowedNodeEnvironmentFlags.has('--allow-addons')
const canAllowNet = process.allowedNodeEnvironmentFlags.has('--allow-net')

const works: Accepted = {
  engine: native,
  picks: ['b', true],
  leases: ['a', 'b', 0],
  keys: true,
  polls: 42,
  thread: [true, native],
  errors: ['OptionError', 'IDLEST_BAD_OPTION', true, true],
  warnings: [],
}
const portable: Accepted = {
  ...works,
  engine: 'portable',
  thread: [true, 'portable'],
  // Where there is no addon, nothing is to be warned of anew.
  warnings: ['IDLEST_PORTABLE'],
}

async function accepted(t: ExecutionContext, flags: readonly string[], how: Start = {}): Promise<Accepted> {
  const { code, signal, out, err } = await run('acceptance.mjs', {
    ...how,
    flags: ['--no-warnings', ...flags],
  })
  if (code !== 0) throw new Error(`ended with ${code ?? signal}: ${err}`)
  if (err !== '') t.log(err)
  return JSON.parse(out) as Accepted
}

for (const flag of [
  '--frozen-intrinsics',
  '--disable-proto=delete',
  '--disable-proto=throw',
  '--enable-source-maps',
  '--stack-size=200',
  '--max-old-space-size=48',
  '--experimental-vm-modules',
  '--disallow-code-generation-from-strings',
  '--throw-deprecation',
  '--preserve-symlinks',
  '--v8-pool-size=0',
]) {
  if (!process.allowedNodeEnvironmentFlags.has(flag.split('=')[0] ?? '') && !/stack-size|code-gen/.test(flag))
    continue
  test.serial(`all of it works with ${flag}`, async (t) => {
    t.timeout(300_000)
    t.deepEqual(await accepted(t, [flag]), {
      ...works,
      warnings: native === 'native' ? [] : ['IDLEST_PORTABLE'],
    })
  })
}

test.serial(
  'all of it works where a thread has flags of its own, and where a table is in a file',
  async (t) => {
    t.timeout(300_000)
    const env = {
      WORKER_OPTIONS: '--enable-source-maps --no-deprecation',
      ...(native === 'native' && process.platform === 'linux' ? { TABLE_FILE: join(folder, 'table') } : {}),
    }
    const { file, ...rest } = await accepted(t, [], { env })
    t.deepEqual(rest, { ...works, warnings: native === 'native' ? [] : ['IDLEST_PORTABLE'] })
    t.is(file, env.TABLE_FILE === undefined ? undefined : 1)
  },
)

test.serial('with --jitless all works', async (t) => {
  t.timeout(300_000)
  const said = await accepted(t, ['--jitless']).catch((error: Error) => error)
  if (major === 22 && said instanceof Error) {
    // Its own `import 'node:http'` and message events load its fetch, which ends the process without WebAssembly.
    t.regex(said.message, /WebAssembly is not defined\n\s+at \w+ \(node:internal\/deps\/undici/)
    return
  }
  if (said instanceof Error) throw said
  t.deepEqual(said, { ...works, warnings: native === 'native' ? [] : ['IDLEST_PORTABLE'] })
})

test.serial('with --no-addons the engine is portable, with one warning for all threads', async (t) => {
  t.timeout(300_000)
  t.deepEqual(await accepted(t, ['--no-addons']), portable)
})

const reads = `--allow-fs-read=${root}*`
const net = canAllowNet ? ['--allow-net'] : []

test.serial('the permission model: without --allow-addons the engine is portable', async (t) => {
  t.timeout(300_000)
  t.deepEqual(await accepted(t, [PERMISSION, reads, '--allow-worker', ...net]), portable)
})

test.serial(
  'the permission model: with reads of the package, --allow-addons and --allow-worker all works',
  async (t) => {
    t.timeout(300_000)
    if (!canAllowAddons) return void t.is(major, 20)
    t.deepEqual(await accepted(t, [PERMISSION, reads, '--allow-addons', '--allow-worker', ...net]), {
      ...works,
      warnings: native === 'native' ? [] : ['IDLEST_PORTABLE'],
    })
  },
)

test.serial(
  'the permission model: without --allow-worker nodes are polled on the main thread, with one warning',
  async (t) => {
    t.timeout(300_000)
    const { thread, warnings, ...rest } = await accepted(t, [PERMISSION, reads, ...net])
    const { thread: _, warnings: __, ...others } = portable
    t.deepEqual(rest, others)
    t.like(thread, { code: 'ERR_ACCESS_DENIED' })
    t.deepEqual([...warnings].sort(), ['IDLEST_NO_POLLING_THREAD', 'IDLEST_PORTABLE'])
  },
)

test.serial(
  'the permission model: without reads of the package nothing is loaded, as Node.js says itself',
  async (t) => {
    t.timeout(300_000)
    const { code, err } = await run('acceptance.mjs', { flags: [PERMISSION] })
    t.is(code, 1)
    t.regex(err, /ERR_ACCESS_DENIED/)
  },
)

if (canAllowNet) {
  test.serial(
    'the permission model: without --allow-net what can not listen is an error that says so',
    async (t) => {
      t.timeout(300_000)
      const { polls } = await accepted(t, [PERMISSION, reads, '--allow-worker'])
      t.like(polls, { code: 'IDLEST_LISTEN' })
      t.regex((polls as { message: string }).message, /--allow-net/)
    },
  )
}
