import test, { type ExecutionContext } from 'ava'
import { pickedNatively, pickedPortably, said } from './outcome.js'
import { Project } from './project.js'
import { BINDING, world } from './world.js'

/** The packages of idlest in pnpm's store of the project, with their versions. */
function installed(project: Project): string[] {
  return project.list('node_modules/.pnpm').filter((name) => /^@?idlest/.test(name))
}

const own = [BINDING, '@idlest/pages', 'idlest'].map((name) => `${name.replace('/', '+')}@${world.version}`)

async function withPnpm(t: ExecutionContext, ...flags: string[]): Promise<Project> {
  const project = await Project.make(t, { dependencies: { idlest: world.version } })
  await project.pnpm('install', ...flags)
  await project.take('picks.mjs', 'picks.cjs', 'polls.mjs')
  return project
}

test('pnpm install brings the addon of this machine and no other, and programs of both kinds pick with it', async (t) => {
  const project = await withPnpm(t)
  t.deepEqual(installed(project), own)
  pickedNatively(t, await project.node('picks.mjs'))
  pickedNatively(t, await project.node('picks.cjs'))
})

test('in the strict tree of pnpm a polling thread starts, and hears an agent', async (t) => {
  const project = await withPnpm(t)
  t.deepEqual(said(await project.node('polls.mjs')), { engine: 'native', cpu: 37.5, warnings: [] })
})

test('pnpm install --frozen-lockfile installs the same again, without scripts too', async (t) => {
  const project = await withPnpm(t)
  await project.remove('node_modules')
  await project.pnpm('install', '--frozen-lockfile', '--ignore-scripts')
  t.deepEqual(installed(project), own)
  pickedNatively(t, await project.node('picks.mjs'))
})

test('with pnpm install --no-optional picks are portable, with one warning', async (t) => {
  const project = await withPnpm(t, '--no-optional')
  t.deepEqual(installed(project), [`idlest@${world.version}`])
  pickedPortably(t, await project.node('picks.mjs'))
})

test('a release whose packages for other platforms are not there yet is installed by pnpm all the same', async (t) => {
  const project = await Project.make(t, { dependencies: { idlest: world.halfVersion } })
  await project.pnpm('install')
  await project.take('picks.mjs')
  pickedNatively(t, await project.node('picks.mjs'))
})
