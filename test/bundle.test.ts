import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { type BuildOptions, build } from 'esbuild'

const run = promisify(execFile)
const dist = fileURLToPath(new URL('../dist', import.meta.url))

const PROGRAM = `
  import { createAgent, createBalancer, httpTransport } from './index.js'
  async function main() {
    const codes = []
    process.on('warning', ({ code }) => codes.push(code))
    const agent = await createAgent({ sampler: () => 37.5 })
    const transport = httpTransport({ port: agent.port })
    const balancer = createBalancer({ nodes: ['127.0.0.1:1'], poll: { transport, startupJitter: 0 } })
    await balancer.ready()
    console.log(JSON.stringify({ engine: balancer.engine, cpu: balancer.snapshot()[0].cpu, codes: codes.sort() }))
    await balancer.close()
    await agent.close()
  }
  main()
`

// undici is CommonJS, and so needs it in a module.
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  logLevel: 'silent',
  // As where they are not installed.
  external: ['@grpc/grpc-js', '@nats-io/*'],
}

// What is set for the tests is not for the program.
const { IDLEST_ENGINE: _engine, IDLEST_BINDING_PATH: _path, NODE_OPTIONS: _options, ...env } = process.env

// In Bun the portable engine is the first choice.
const wantsNative = process.versions.bun === undefined

for (const [format, thread] of [
  ['esm', false],
  ['cjs', false],
  ['cjs', true],
] as const) {
  const how = thread ? 'in its polling thread, a second entry' : 'by itself'
  test(`a bundle alone (${format}) picks, and polls ${how}, without optional packages`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'idlest-bundle-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    await build({
      ...common,
      format,
      stdin: { contents: PROGRAM, resolveDir: dist },
      banner: format === 'esm' ? { js: REQUIRE } : {},
      outfile: join(folder, format === 'esm' ? 'program.mjs' : 'program.cjs'),
    })
    if (thread) {
      const program = join(dist, 'poller/polling-thread.js')
      await build({ ...common, format, entryPoints: [program], outfile: join(folder, 'polling-thread.cjs') })
    }
    const { stdout } = await run(process.execPath, [format === 'esm' ? 'program.mjs' : 'program.cjs'], {
      cwd: folder,
      env,
    })
    t.deepEqual(JSON.parse(stdout), {
      engine: 'portable',
      cpu: 37.5,
      codes: [...(thread ? [] : ['IDLEST_NO_POLLING_THREAD']), ...(wantsNative ? ['IDLEST_PORTABLE'] : [])],
    })
  })
}

for (const url of ['https://cdn.test/program.mjs', 'file://another-host/program.mjs', '/app/program.mjs']) {
  test(`a bundle whose URL is none of a file here picks and polls all the same: ${url}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'idlest-bundle-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    await build({
      ...common,
      format: 'esm',
      stdin: { contents: PROGRAM, resolveDir: dist },
      banner: { js: REQUIRE },
      define: { 'import.meta.url': JSON.stringify(url) },
      outfile: join(folder, 'program.mjs'),
    })
    const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: folder, env })
    t.deepEqual(JSON.parse(stdout), {
      engine: 'portable',
      cpu: 37.5,
      codes: ['IDLEST_NO_POLLING_THREAD', ...(wantsNative ? ['IDLEST_PORTABLE'] : [])],
    })
  })
}
