import { copyFile, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { locked } from '../../.ci/lock.mjs'
import { bin, npm } from '../../.ci/process.mjs'
import { fingerprint, once } from '../../.ci/stamp.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = 'node_modules/.cache/idlest/install-tools'

/** Where the tools are: apart from the project's own packages, so that those who only run its tests need not have them. */
export const toolsFolder = join(root, CACHE)

/** Installs what `tools/package-lock.json` names, unless it is there. */
export async function installTools(): Promise<void> {
  await mkdir(toolsFolder, { recursive: true })
  await locked(join(toolsFolder, '.lock'), installUnlessThere)
}

async function installUnlessThere(): Promise<void> {
  const files = ['test/install/tools/package.json', 'test/install/tools/package-lock.json']
  const result = await once({
    root,
    stamp: `${CACHE}/.installed.json`,
    inputs: fingerprint(root, files, [process.platform, process.arch]),
    async make() {
      for (const file of files)
        await copyFile(join(root, file), file.replace('test/install/tools', toolsFolder))
      // None of the scripts is needed to run any of them.
      const { code, output } = await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: toolsFolder,
        quiet: true,
      })
      if (code !== 0) throw new Error(`${output}npm ci failed in ${toolsFolder}`)
      return [`${CACHE}/node_modules/.package-lock.json`]
    },
  })
  if (result === 'failed') throw new Error('the tools are not installed')
}

/** The script of a tool's command, for node. */
export function tool(name: string, command: string): string {
  return bin(toolsFolder, name, command)
}

/** The file that a tool is loaded from. */
export function toolFile(name: string): string {
  return createRequire(join(toolsFolder, 'package.json')).resolve(name)
}
