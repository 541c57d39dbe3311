// `npm run test:install`: publishes the packages to a registry of its own, on loopback, and has them installed from there
// in every way that users do. Arguments go to ava: `npm run test:install -- test/install/npm.install.ts`.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bin, npmCommand, run } from '../../.ci/process.mjs'
import { compiledPath } from '../../.ci/tests/compile.mjs'
import { execute } from './execute.js'
import { makePackages, publish, setVersion } from './publish.js'
import { startRegistry } from './registry.js'
import { homeEnvironment, WORLD, writeSettings } from './settings.js'
import { installTools } from './tools.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const VERSION = '1.0.0'
const HALF_VERSION = '1.1.0-half.1'

if (!existsSync(join(root, 'dist/native/index.d.ts'))) {
  throw new Error('there is no native engine to publish: install Rust, then `npm run build`')
}
await installTools()
const folder = await mkdtemp(join(tmpdir(), 'idlest-install-'))
const registry = await startRegistry(folder)
try {
  const home = join(folder, 'home')
  await writeSettings(home, registry.url)
  const env = homeEnvironment(home)
  const packages = await makePackages(folder)

  // A release that was cut short, or came in the wrong order.
  await setVersion(packages, HALF_VERSION)
  const own = [...packages].filter(([name]) => !name.includes('binding') || isBuilt(name))
  await publish(
    own.map(([, path]) => path),
    env,
    'half',
  )
  await setVersion(packages, VERSION)
  await publish(packages.values(), env)

  // Now the registry has all that idlest depends on, and so has npm's cache.
  await fill(folder, env)

  const world = {
    registry: registry.url,
    home,
    version: VERSION,
    halfVersion: HALF_VERSION,
    packages: [...packages.keys()],
  }
  await writeFile(join(folder, 'world.json'), JSON.stringify(world))
  const ava = [
    bin(root, 'ava', 'ava'),
    '--config',
    'test/install/ava.config.mjs',
    ...process.argv.slice(2).map(compiledPath),
  ]
  const { code } = await run(process.execPath, ava, {
    cwd: root,
    env: { [WORLD]: join(folder, 'world.json') },
  })
  process.exitCode = code
} finally {
  await registry.close()
  await rm(folder, { recursive: true, force: true })
}

async function fill(folder: string, env: Record<string, string>): Promise<void> {
  const first = join(folder, 'first')
  await mkdir(first)
  const { code, stderr } = await execute([...npmCommand(), 'install', '--prefix', '.', 'idlest'], first, env)
  if (code !== 0) throw new Error(`${stderr}npm install idlest failed`)
}

function isBuilt(name: string): boolean {
  return existsSync(join(root, 'dist/native', `idlest.${name.replace('@idlest/binding-', '')}.node`))
}
