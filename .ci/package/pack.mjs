import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npm } from '../process.mjs'

/** @typedef {{ name: string, file: string }} Packed */

/**
 * Packs staged packages, each as npm publishes it.
 * @param {import('./stage.mjs').Staged[]} staged
 * @param {string} into
 * @returns {Promise<Packed[]>} in the same order; `file` is the tarball's path
 */
export async function pack(staged, into) {
  const folders = staged.map(({ folder }) => folder)
  const { code, output } = await npm(['pack', ...folders, '--pack-destination', into, '--loglevel=error'], {
    quiet: true,
  })
  if (code !== 0) throw new Error(`${output}npm pack failed`)
  return Promise.all(
    staged.map(async ({ name, folder }) => {
      const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      return { name, file: join(into, `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`) }
    }),
  )
}
