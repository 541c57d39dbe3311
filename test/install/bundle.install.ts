import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { execute, type Ran } from './execute.js'
import { type Polled, said, tellsOfPlaces } from './outcome.js'
import { Project } from './project.js'
import { homeEnvironment } from './settings.js'
import { tool } from './tools.js'
import { ADDON, BINDING, world } from './world.js'

type Format = 'esm' | 'cjs'

/** A bundler, told no more than what it must be: where to begin, what for, and where to write. */
interface Bundler {
  readonly name: string
  /** Its arguments to bundle these files into `out`. */
  readonly command: (format: Format, files: readonly string[]) => [string, ...string[]]
  readonly prepare?: (project: Project) => Promise<void>
}

const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

const esbuild: Bundler = {
  name: 'esbuild',
  command: (format, files) => [
    tool('esbuild', 'esbuild'),
    ...files,
    '--bundle',
    '--platform=node',
    `--format=${format}`,
    // undici is CommonJS, and so needs it in a module, as everything that is does.
    ...(format === 'esm' ? [`--banner:js=${REQUIRE}`] : []),
    '--outdir=out',
    '--log-level=warning',
  ],
}

const rolldown: Bundler = {
  name: 'rolldown',
  command: (format, files) => [
    tool('rolldown', 'rolldown'),
    ...files,
    '--platform=node',
    `--format=${format}`,
    '--dir=out',
  ],
}

const vite: Bundler = {
  name: 'vite',
  command: () => [tool('vite', 'vite'), 'build', '--logLevel=warn'],
  prepare: (project) =>
    project.write(
      'vite.config.mjs',
      `export default { build: { ssr: 'polls.mjs', outDir: 'out' }, ssr: { noExternal: true } }`,
    ),
}

async function bundled(
  t: ExecutionContext,
  { command, prepare }: Bundler,
  format: Format = 'esm',
  files: readonly string[] = ['polls.mjs'],
  packages: readonly string[] = [],
): Promise<Project> {
  const project = await Project.make(t, format === 'esm' ? { type: 'module' } : {})
  await project.npm('install', 'idlest', ...packages)
  await project.take('polls.mjs', 'hears.mjs')
  await prepare?.(project)
  await project.succeed([process.execPath, ...command(format, files)])
  return project
}

function codes({ warnings }: Polled): string[] {
  return warnings.map(({ code }) => code)
}

/** Runs what was bundled, moved to where nothing else is but what is put there. */
async function runElsewhere(
  t: ExecutionContext,
  project: Project,
  files: readonly string[] = [],
  program = 'polls.js',
): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-elsewhere-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await cp(join(project.folder, 'out'), folder, { recursive: true })
  await copyFile(join(project.folder, 'package.json'), join(folder, 'package.json'))
  for (const file of files)
    await cp(join(project.folder, 'node_modules', file), join(folder, 'node_modules', file), {
      recursive: true,
    })
  return execute([process.execPath, join(folder, program)], folder, homeEnvironment(world.home))
}

for (const [bundler, format] of [
  [esbuild, 'esm'],
  [esbuild, 'cjs'],
  [rolldown, 'esm'],
  [rolldown, 'cjs'],
  [vite, 'esm'],
] as const) {
  const title = `a bundle by ${bundler.name} (${format})`

  test(`${title} picks with the addon in node_modules above it, and polls on its own thread, with one warning`, async (t) => {
    const project = await bundled(t, bundler, format)
    const polled = said<Polled>(await project.node('out/polls.js'))
    t.deepEqual([polled.engine, polled.cpu], ['native', 37.5])
    t.deepEqual(codes(polled), ['IDLEST_NO_POLLING_THREAD'])
    t.regex(polled.warnings[0]?.message ?? '', /idlest\/polling-thread/)
  })

  test(`${title} without an addon near it picks portably, and says what to do`, async (t) => {
    const polled = said<Polled>(await runElsewhere(t, await bundled(t, bundler, format)))
    t.deepEqual([polled.engine, polled.cpu], ['portable', 37.5])
    t.deepEqual(codes(polled).sort(), ['IDLEST_NO_POLLING_THREAD', 'IDLEST_PORTABLE'])
    const message = polled.warnings.find(({ code }) => code === 'IDLEST_PORTABLE')?.message ?? ''
    tellsOfPlaces(t, message)
    t.regex(message, /bundle/)
    t.true(message.includes(ADDON), message)
    t.regex(message, /IDLEST_BINDING_PATH/)
  })

  test(`${title} with idlest left out of it is as good as no bundle`, async (t) => {
    const project = await Project.make(t, format === 'esm' ? { type: 'module' } : {})
    await project.npm('install', 'idlest')
    await project.take('polls.mjs')
    const command = bundler.command(format, ['polls.mjs'])
    if (bundler === vite) {
      // What it does by itself.
      await project.write('vite.config.mjs', `export default { build: { ssr: 'polls.mjs', outDir: 'out' } }`)
    } else command.push(bundler === esbuild ? '--external:idlest' : '--external=idlest')
    await project.succeed([process.execPath, ...command])
    t.deepEqual(said(await project.node('out/polls.js')), { engine: 'native', cpu: 37.5, warnings: [] })
  })
}

for (const format of ['esm', 'cjs'] as const) {
  test(`a bundle by esbuild (${format}) with the polling thread as a second entry has it`, async (t) => {
    const entries = ['polls=./polls.mjs', 'polling-thread=idlest/polling-thread']
    const project = await bundled(t, esbuild, format, entries)
    t.deepEqual(said(await project.node('out/polls.js')), { engine: 'native', cpu: 37.5, warnings: [] })
  })

  test(`a bundle by esbuild (${format}) picks with the package of the addon, or the addon alone, beside it`, async (t) => {
    const project = await bundled(t, esbuild, format)
    t.is(said<Polled>(await runElsewhere(t, project, [BINDING])).engine, 'native')
    await copyFile(join(project.folder, 'node_modules', BINDING, ADDON), join(project.folder, 'out', ADDON))
    t.is(said<Polled>(await runElsewhere(t, project)).engine, 'native')
  })
}

test('a bundle takes optional packages along where they are installed, and says what is missing where they are not', async (t) => {
  const grpc = '@grpc/grpc-js'
  const complete = await bundled(t, esbuild, 'cjs', ['hears.mjs'], [grpc])
  t.deepEqual(said(await runElsewhere(t, complete, [], 'hears.js')), { cpu: 37.5 })
  const without = await bundled(t, esbuild, 'cjs', ['hears.mjs'])
  t.deepEqual(said(await runElsewhere(t, without, [], 'hears.js')), {
    message: `the package ${grpc} is missing: npm install ${grpc}`,
  })
})
