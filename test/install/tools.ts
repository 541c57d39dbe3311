import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installApart } from '../../.ci/install.mjs'
import { bin } from '../../.ci/process.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const NAME = 'install-tools'
const folder = join(root, 'node_modules/.cache/idlest', NAME)

/** Installs what `tools/package-lock.json` names, unless it is there. */
export async function installTools(): Promise<void> {
  await installApart(root, 'test/install/tools', NAME)
}

/** The script of a tool's command, for node. */
export function tool(name: string, command: string): string {
  return bin(folder, name, command)
}

/** The file that a tool is loaded from. */
export function toolFile(name: string): string {
  return createRequire(join(folder, 'package.json')).resolve(name)
}
