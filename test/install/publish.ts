import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stage } from '../../.ci/package/stage.mjs'
import { npmCommand } from '../../.ci/process.mjs'
import { buildNames } from '../../dist/engine/targets.js'
import { execute } from './execute.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const native = join(root, 'dist/native')

interface Manifest {
  version: string
  optionalDependencies?: Record<string, string>
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
}

/**
 * Makes the packages as they are released. Of the addons this machine's own is real; those of other platforms are no
 * addons at all: whoever is given one can't load it.
 * @returns the folders, in the order to publish them in, by their names
 */
export async function makePackages(folder: string): Promise<Map<string, string>> {
  const bindings = join(folder, 'addons')
  await mkdir(bindings, { recursive: true })
  const names = ['linux', 'darwin', 'win32'].flatMap((platform) =>
    ['x64', 'arm64'].flatMap((arch) => buildNames(platform, arch, undefined)),
  )
  for (const name of names) await writeFile(join(bindings, `idlest.${name}.node`), 'not an addon')
  await cp(native, bindings, { recursive: true, filter: (file) => file === native || file.endsWith('.node') })
  const staged = await stage(root, { into: join(folder, 'npm'), bindings })
  return new Map(staged.map(({ name, folder }) => [name, folder]))
}

/** Gives packages another version, and the main one that of those that belong to it. */
export async function setVersion(packages: ReadonlyMap<string, string>, version: string): Promise<void> {
  for (const folder of packages.values()) {
    const manifest = await readManifest(folder)
    const optional = Object.keys(manifest.optionalDependencies ?? {}).map((name) => [name, version])
    const text = JSON.stringify({
      ...manifest,
      version,
      ...(optional.length === 0 ? {} : { optionalDependencies: Object.fromEntries(optional) }),
    })
    await writeFile(join(folder, 'package.json'), text)
  }
}

/** Publishes what is in these folders. */
export async function publish(
  folders: Iterable<string>,
  env: Record<string, string>,
  tag = 'latest',
): Promise<void> {
  for (const cwd of folders) {
    const { code, stderr } = await execute(
      [...npmCommand(), 'publish', '--tag', tag, '--loglevel=error'],
      cwd,
      env,
    )
    if (code !== 0) throw new Error(`${stderr}npm publish failed in ${cwd}`)
  }
}
