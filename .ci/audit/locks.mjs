import { filesUnder } from '../stamp.mjs'

/**
 * The lock files of the project: its own, and those of tools that are installed apart.
 * @param {string} root
 * @returns {string[]} paths from there, sorted
 */
export function lockFiles(root) {
  return filesUnder(root, ['package-lock.json', '.ci', 'test'], ['node_modules', 'fixtures']).filter((path) =>
    /(^|\/)package-lock\.json$/.test(path),
  )
}

/**
 * @typedef {object} Pinned
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [inBundle]
 * @property {boolean} [link]
 */

/**
 * What a lock file leaves to whoever answers for the registry.
 * @param {{ packages: Record<string, Pinned> }} lock a package-lock.json
 * @returns {string[]}
 */
export function unpinned({ packages }) {
  return Object.entries(packages)
    .filter(([place, { integrity, inBundle, link }]) => place !== '' && !integrity && !inBundle && !link)
    .map(([place, { version }]) => `${place} ${version} has no integrity: any content would be installed`)
}
