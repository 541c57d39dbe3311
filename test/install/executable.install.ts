import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { older } from '../../.ci/node-version.mjs'
import { execute, type Ran } from './execute.js'
import { type Polled, said, tellsOfPlaces } from './outcome.js'
import { Project } from './project.js'
import { homeEnvironment } from './settings.js'
import { tool } from './tools.js'
import { ADDON, BINDING, world } from './world.js'

// From 25.5 on Node.js does all of it in one step.
const hasBuilder = !older(process.versions.node, '25.5')

const EXECUTABLE = process.platform === 'win32' ? 'program.exe' : 'program'
/** How Node.js finds what is put into a copy of it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Makes a single executable of a program that is bundled, as the documentation of Node.js says. */
async function makeExecutable(t: ExecutionContext, program: string): Promise<Project> {
  const project = await Project.make(t)
  await project.npm('install', 'idlest')
  await project.take(program)
  await project.succeed([
    process.execPath,
    tool('esbuild', 'esbuild'),
    `program=./${program}`,
    'polling-thread=idlest/polling-thread',
    '--bundle',
    '--platform=node',
    '--format=cjs',
    '--outdir=out',
    '--log-level=warning',
  ])
  const config = {
    main: 'out/program.js',
    output: hasBuilder ? EXECUTABLE : 'program.blob',
    disableExperimentalSEAWarning: true,
    assets: { 'idlest.node': join('node_modules', BINDING, ADDON) },
  }
  await project.write('sea.json', JSON.stringify(config))
  if (hasBuilder) {
    await project.succeed([process.execPath, '--build-sea', 'sea.json'])
    return project
  }
  await project.succeed([process.execPath, '--experimental-sea-config', 'sea.json'])
  const executable = join(project.folder, EXECUTABLE)
  await copyFile(process.execPath, executable)
  await chmod(executable, 0o755)
  await project.succeed([
    process.execPath,
    tool('postject', 'postject'),
    executable,
    'NODE_SEA_BLOB',
    'program.blob',
    '--sentinel-fuse',
    FUSE,
  ])
  return project
}

/** Runs the executable where nothing else is but the addon or the program of the polling thread, where they are wanted. */
async function runAlone(
  t: ExecutionContext,
  project: Project,
  {
    addon = false,
    thread = false,
    env = {},
  }: { addon?: boolean; thread?: boolean; env?: Record<string, string> } = {},
): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-alone-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await copyFile(join(project.folder, EXECUTABLE), join(folder, EXECUTABLE))
  const copied = [
    ...(addon ? [join('node_modules', BINDING, ADDON)] : []),
    ...(thread ? ['out/polling-thread.js'] : []),
  ]
  for (const file of copied) await copyFile(join(project.folder, file), join(folder, basename(file)))
  const ran = await execute([join(folder, EXECUTABLE)], folder, { ...homeEnvironment(world.home), ...env })
  t.is(ran.code, 0, ran.stderr)
  return ran
}

test('a single executable alone picks portably, and polls on its own thread', async (t) => {
  const project = await makeExecutable(t, 'polls.mjs')
  const { engine, cpu, warnings } = said<Polled>(await runAlone(t, project))
  t.deepEqual([engine, cpu], ['portable', 37.5])
  t.deepEqual(warnings.map(({ code }) => code).sort(), ['IDLEST_NO_POLLING_THREAD', 'IDLEST_PORTABLE'])
  tellsOfPlaces(t, warnings.find(({ code }) => code === 'IDLEST_PORTABLE')?.message ?? '')
})

test('a single executable picks with the addon beside it, or where IDLEST_BINDING_PATH says', async (t) => {
  const project = await makeExecutable(t, 'polls.mjs')
  t.is(said<Polled>(await runAlone(t, project, { addon: true })).engine, 'native')
  const env = { IDLEST_BINDING_PATH: join(project.folder, 'node_modules', BINDING, ADDON) }
  t.is(said<Polled>(await runAlone(t, project, { env })).engine, 'native')
})

test('a single executable picks with the addon that it has as an asset, once it has written it to a file', async (t) => {
  const project = await makeExecutable(t, 'sea.cjs')
  t.deepEqual(said(await runAlone(t, project)), { engine: 'native' })
})

test('a single executable has all that there is with the addon and the program of the polling thread beside it', async (t) => {
  const project = await makeExecutable(t, 'polls.mjs')
  t.deepEqual(said(await runAlone(t, project, { addon: true, thread: true })), {
    engine: 'native',
    cpu: 37.5,
    warnings: [],
  })
})
