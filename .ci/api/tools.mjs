import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { locked } from '../lock.mjs'
import { npm } from '../process.mjs'
import { progress } from '../progress.mjs'
import { fingerprint, once } from '../stamp.mjs'

const manifests = ['package.json', 'package-lock.json']

/**
 * Installs what makes the reference and the report, unless it is installed.
 * @param {string} root
 * @returns {Promise<string>} the folder that they are installed in
 */
export async function tools(root) {
  const place = 'node_modules/.cache/idlest/api-tools'
  const folder = join(root, place)
  const lock = join(root, 'node_modules/.cache/idlest/api-tools.lock')
  mkdirSync(dirname(lock), { recursive: true })
  const state = await locked(lock, () =>
    once({
      root,
      stamp: `${place}/.built.json`,
      inputs: fingerprint(
        root,
        manifests.map((file) => `.ci/api/${file}`),
      ),
      async make() {
        rmSync(folder, { recursive: true, force: true })
        mkdirSync(folder, { recursive: true })
        for (const file of manifests) cpSync(join(root, '.ci/api', file), join(folder, file))
        const { code, output } = await progress('installing what reads the API', () =>
          npm(['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
            cwd: folder,
            quiet: true,
          }),
        )
        if (code === 0) return [`${place}/node_modules/.package-lock.json`]
        console.error(output)
        return undefined
      },
    }),
  )
  if (state === 'failed') throw new Error('npm ci failed: what reads the API could not be installed')
  return folder
}

/**
 * Imports one of them.
 * @param {string} folder what `tools` gave
 * @param {string} name
 */
export function load(folder, name) {
  const path = createRequire(join(folder, 'package.json')).resolve(name)
  return import(pathToFileURL(path).href)
}
