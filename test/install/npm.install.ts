import test, { type ExecutionContext } from 'ava'
import { npmCommand } from '../../.ci/process.mjs'
import { pickedNatively, pickedPortably, tellsOfPlaces } from './outcome.js'
import { Project } from './project.js'
import { tool } from './tools.js'
import { BINDING, build, world } from './world.js'

/** The packages of idlest that are installed. */
function installed(project: Project): string[] {
  return [
    ...project.list('node_modules').filter((name) => name === 'idlest'),
    ...project.list('node_modules/@idlest').map((name) => `@idlest/${name}`),
  ]
}

async function withNpm(t: ExecutionContext, ...flags: string[]): Promise<Project> {
  const project = await Project.make(t)
  await project.npm('install', 'idlest', ...flags)
  await project.take('picks.mjs', 'picks.cjs')
  return project
}

test('npm install brings the addon of this machine and no other, and programs of both kinds pick with it', async (t) => {
  const project = await withNpm(t)
  t.deepEqual(installed(project), ['idlest', BINDING, '@idlest/pages'])
  pickedNatively(t, await project.node('picks.mjs'))
  pickedNatively(t, await project.node('picks.cjs'))
})

test('the lock file names the addons of all platforms, and no package that it has runs a script', async (t) => {
  const project = await withNpm(t)
  const locked = project.locked()
  const names = world.packages.map((name) => `node_modules/${name}`)
  t.deepEqual(
    names.filter((name) => locked[name] === undefined),
    [],
  )
  t.deepEqual(
    Object.keys(locked).filter((name) => locked[name]?.hasInstallScript),
    [],
  )
})

test('with --ignore-scripts the same is installed', async (t) => {
  const [plain, without] = await Promise.all([withNpm(t), withNpm(t, '--ignore-scripts')])
  t.deepEqual(without.list('node_modules'), plain.list('node_modules'))
  t.deepEqual(installed(without), installed(plain))
  pickedNatively(t, await without.node('picks.mjs'))
})

test('npm ci with the lock file installs the same again', async (t) => {
  const project = await withNpm(t)
  const before = [project.list('node_modules'), installed(project)]
  await project.npm('ci')
  t.deepEqual([project.list('node_modules'), installed(project)], before)
  pickedNatively(t, await project.node('picks.mjs'))
})

test('npm ci without a lock file is refused by npm; npm install goes without', async (t) => {
  const project = await Project.make(t, { dependencies: { idlest: world.version } })
  const { code, stderr } = await project.run([...npmCommand(), 'ci'])
  t.is(code, 1)
  t.regex(stderr, /package-lock\.json/)
  await project.npm('install', '--no-package-lock')
  t.false(project.has('package-lock.json'))
  await project.take('picks.mjs')
  pickedNatively(t, await project.node('picks.mjs'))
})

test('with --omit=optional picks are portable, with one warning', async (t) => {
  const project = await withNpm(t, '--omit=optional')
  t.deepEqual(installed(project), ['idlest'])
  for (const program of ['picks.mjs', 'picks.cjs']) pickedPortably(t, await project.node(program))
})

test('without the addon IDLEST_ENGINE=native is an error that says what brings it', async (t) => {
  const project = await withNpm(t, '--omit=optional')
  const { code, stdout, stderr } = await project.run([process.execPath, 'picks.mjs'], {
    IDLEST_ENGINE: 'native',
  })
  t.is(code, 1)
  t.is(stdout, '')
  tellsOfPlaces(t, stderr)
  const [, remedy = ''] = /npm (install @idlest\/binding-\S+)/.exec(stderr) ?? []
  t.is(remedy, `install ${BINDING}@${world.version}`)
  await project.npm(...remedy.split(' '))
  pickedNatively(t, await project.node('picks.mjs', { IDLEST_ENGINE: 'native' }))
})

test('a lock file that an old npm made elsewhere leaves the addon out: the warning says what brings it', async (t) => {
  const project = await Project.make(t)
  const oldNpm = (...args: string[]) => project.succeed([process.execPath, tool('npm-10', 'npm'), ...args])
  const [os, cpu, elsewhere] =
    process.platform === 'darwin' ? ['win32', 'x64', 'win32-x64-msvc'] : ['darwin', 'arm64', 'darwin-arm64']
  await oldNpm('install', 'idlest', `--os=${os}`, `--cpu=${cpu}`)
  // What npm before 11.3 did then: with node_modules there, it made a lock file of what was in it.
  await project.remove('package-lock.json')
  await oldNpm('install', `--os=${os}`, `--cpu=${cpu}`)
  const names = Object.keys(project.locked()).filter((name) => name.includes('@idlest/binding-'))
  t.deepEqual(names, [`node_modules/@idlest/binding-${elsewhere}`])

  // A later npm refuses it, and says what it lacks.
  const later = await project.run([...npmCommand(), 'ci'])
  if (later.code !== 0) t.true(later.stderr.includes(`${BINDING}@${world.version} from lock file`))
  await oldNpm('ci')
  t.deepEqual(installed(project), ['idlest', '@idlest/pages'])
  await project.take('picks.mjs')
  const warning = pickedPortably(t, await project.node('picks.mjs'))
  const [, remedy = ''] = /npm (install @idlest\/binding-\S+)/.exec(warning) ?? []
  t.is(remedy, `install ${BINDING}@${world.version}`)
  await oldNpm(...remedy.split(' '))
  pickedNatively(t, await project.node('picks.mjs'))
})

test('a release whose packages for other platforms are not there yet is installed by npm all the same', async (t) => {
  const project = await Project.make(t, { dependencies: { idlest: world.halfVersion } })
  await project.npm('install')
  t.deepEqual(installed(project), ['idlest', BINDING, '@idlest/pages'])
  await project.take('picks.mjs')
  pickedNatively(t, await project.node('picks.mjs'))
})

test('packages of other platforms are refused where they do not fit', async (t) => {
  const other = build === 'win32-x64-msvc' ? 'darwin-arm64' : 'win32-x64-msvc'
  const project = await Project.make(t)
  const { code, stderr } = await project.run([...npmCommand(), 'install', `@idlest/binding-${other}`])
  t.is(code, 1)
  t.regex(stderr, /EBADPLATFORM/)
})
