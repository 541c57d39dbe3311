import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../process.mjs'
import { filesUnder } from '../stamp.mjs'

/**
 * @typedef {object} Tarball
 * @property {string} file
 * @property {string} name
 * @property {string} version
 * @property {string} integrity as npm writes it
 * @property {Record<string, string>} optional what it depends on where it fits
 */

/**
 * The packed packages of a folder, in the order to publish them in: who is depended on goes first, so that nobody can
 * install a package whose parts are not there yet.
 * @param {string} folder
 * @returns {Promise<Tarball[]>}
 */
export async function tarballs(folder) {
  const files = filesUnder(folder, ['.']).filter((file) => /^\.\/[^/]+\.tgz$/.test(file))
  const found = await Promise.all(files.map((file) => read(folder, file)))
  return found.sort((a, b) => Object.keys(a.optional).length - Object.keys(b.optional).length)
}

/**
 * @param {string} folder
 * @param {string} name of the file
 * @returns {Promise<Tarball>}
 */
async function read(folder, name) {
  // By its name alone: a tar on Windows may take what stands before a colon for another machine.
  const args = ['-xzOf', name, 'package/package.json']
  const { code, output } = await run('tar', args, { cwd: folder, quiet: true })
  const file = join(folder, name)
  if (code !== 0) throw new Error(`${output}${file} is no package`)
  const manifest = JSON.parse(output)
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  return {
    file,
    name: manifest.name,
    version: manifest.version,
    integrity,
    optional: manifest.optionalDependencies ?? {},
  }
}

/**
 * Why these can't be published: they have to be of one version, and complete, since a package that was published without
 * its parts can't be mended.
 * @param {Tarball[]} all
 */
export function incomplete(all) {
  const [first] = all
  if (first === undefined) return ['there are no tarballs: npm run package']
  const others = all.filter(({ version }) => version !== first.version)
  const missing = all.flatMap(({ name, optional }) =>
    Object.entries(optional)
      .filter(([part, version]) => !all.some((it) => it.name === part && it.version === version))
      .map(([part, version]) => `${name} names ${part} ${version}, which is not among the tarballs`),
  )
  return [
    ...others.map(({ name, version }) => `${name} is ${version}, ${first.name} ${first.version}`),
    ...missing,
  ]
}
