import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { pickedNatively, pickedPortably, said } from './outcome.js'
import { Project } from './project.js'
import { tool } from './tools.js'
import { BINDING, world } from './world.js'

const yarn = [process.execPath, tool('@yarnpkg/cli-dist', 'yarn')] as const

/** Settings that yarn reads nowhere else than in the project. */
function settings(linker: string): string {
  return [
    `nodeLinker: ${linker}`,
    `npmRegistryServer: "${world.registry}"`,
    'unsafeHttpWhitelist: ["127.0.0.1"]',
    `globalFolder: ${JSON.stringify(join(world.home, 'yarn'))}`,
    'enableTelemetry: false',
    // Whatever is installed here is younger than yarn trusts.
    'npmMinimalAgeGate: 0',
    'enableImmutableInstalls: false',
  ].join('\n')
}

async function withYarn(t: ExecutionContext, linker: string, version = world.version): Promise<Project> {
  const project = await Project.make(t, { dependencies: { idlest: version } })
  await project.write('.yarnrc.yml', settings(linker))
  // Of its own, lest a package.json of a folder above counts.
  await project.write('yarn.lock', '')
  await project.take('picks.mjs', 'picks.cjs', 'polls.mjs', 'threads.mjs')
  return project
}

test('yarn with node_modules brings the addon of this machine and no other, and programs of both kinds pick with it', async (t) => {
  const project = await withYarn(t, 'node-modules')
  await project.yarn('install')
  t.deepEqual(
    project.list('node_modules/@idlest').map((name) => `@idlest/${name}`),
    [BINDING, '@idlest/pages'],
  )
  pickedNatively(t, await project.node('picks.mjs'))
  pickedNatively(t, await project.node('picks.cjs'))
})

test('yarn install --immutable installs the same again, without scripts too', async (t) => {
  const project = await withYarn(t, 'node-modules')
  await project.yarn('install')
  const before = project.list('node_modules')
  await project.remove('node_modules')
  await project.yarn('install', '--immutable', '--mode=skip-build')
  t.deepEqual(project.list('node_modules'), before)
  pickedNatively(t, await project.node('picks.mjs'))
})

test('yarn with Plug’n’Play: programs of both kinds pick with the addon; those that require it, from Node 22 on', async (t) => {
  const project = await withYarn(t, 'pnp')
  await project.yarn('install')
  t.false(project.has('node_modules/idlest'))
  pickedNatively(t, await project.yarn('node', 'picks.mjs'))
  const ran = await project.run([...yarn, 'node', 'picks.cjs'])
  if (ran.code === 0) pickedNatively(t, ran)
  else {
    // There Node.js requires modules past the hooks that know the archives; `import('idlest')` goes by them.
    t.regex(process.version, /^v20\./)
    t.regex(ran.stderr, /ERR_MODULE_NOT_FOUND/)
    await project.write('imports.cjs', "import('idlest').then(({ select }) => console.log(select(['a'])))")
    t.is((await project.yarn('node', 'imports.cjs')).stdout, 'a\n')
  }
})

test('yarn with Plug’n’Play: a polling thread starts out of the archive, and hears an agent', async (t) => {
  const project = await withYarn(t, 'pnp')
  await project.yarn('install')
  t.deepEqual(said(await project.yarn('node', 'polls.mjs')), { engine: 'native', cpu: 37.5, warnings: [] })
})

test('yarn with Plug’n’Play set up by flags: a polling thread starts out of the archive, and hears an agent', async (t) => {
  const project = await withYarn(t, 'pnp')
  await project.yarn('install')
  const flags = ['--require', './.pnp.cjs', '--loader', './.pnp.loader.mjs', '--no-warnings']
  const ran = await project.succeed([process.execPath, ...flags, 'polls.mjs'])
  const { engine, cpu } = said<{ engine: string; cpu: number }>(ran)
  t.deepEqual({ engine, cpu }, { engine: 'native', cpu: 37.5 })
})

test('yarn with Plug’n’Play: where the addon is left out, picks are portable, with one warning', async (t) => {
  const project = await withYarn(t, 'pnp')
  await project.write(
    '.yarnrc.yml',
    `${settings('pnp')}\nsupportedArchitectures: { os: [none], cpu: [none] }`,
  )
  await project.yarn('install')
  pickedPortably(t, await project.yarn('node', 'picks.mjs'))
})

// So all others have to be published before the main one.
test('a release whose packages for other platforms are not there yet is refused by yarn', async (t) => {
  const project = await withYarn(t, 'node-modules', world.halfVersion)
  const { code, stdout } = await project.run([...yarn, 'install'])
  t.is(code, 1)
  t.regex(stdout, /@idlest\/binding-[\w-]+@npm:1\.1\.0-half\.1: No candidates found/)
})
