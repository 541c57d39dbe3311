/**
 * @typedef {object} Locked
 * @property {string} [version]
 * @property {string} [license]
 * @property {boolean} [hasInstallScript]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 */

/** @typedef {{ packages: Record<string, Locked> }} Lock a package-lock.json */

/** Licences that ask for nothing but their own text to be kept. */
const permissive = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0'],
  ...['ISC', 'MIT', 'Unlicense'],
])

/**
 * The packages that come with an installed idlest: what its own dependencies need, without tools and peers.
 * @param {Lock} lock
 * @returns {string[]} their places in `lock.packages`, sorted
 */
export function shipped({ packages }) {
  /** @type {Set<string>} */
  const found = new Set()
  const waiting = ['']
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    const { dependencies, optionalDependencies } = packages[from] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = resolve(packages, from, name)
      if (place === undefined || found.has(place)) continue
      found.add(place)
      waiting.push(place)
    }
  }
  return [...found].sort()
}

/**
 * Where Node finds a package: in the folder of who needs it, else in those above.
 * @param {Lock['packages']} packages
 * @param {string} from
 * @param {string} name
 * @returns {string | undefined}
 */
function resolve(packages, from, name) {
  const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (place in packages) return place
  if (from === '') return undefined
  return resolve(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
}

/**
 * What speaks against shipping a package.
 * @param {Lock} lock
 * @returns {string[]}
 */
export function shippedFaults(lock) {
  return shipped(lock).flatMap((place) => {
    const { version, license, hasInstallScript } = lock.packages[place] ?? {}
    const name = `${place} ${version}`
    return [
      ...(isPermissive(license) ? [] : [`${name} has the licence ${license ?? 'unknown'}`]),
      ...(hasInstallScript ? [`${name} runs a script when it is installed`] : []),
    ]
  })
}

/**
 * @param {string | undefined} license an expression of SPDX
 * @returns {boolean}
 */
export function isPermissive(license = '') {
  const plain = license.replace(/^\((.*)\)$/, '$1')
  if (plain.includes(' OR ')) return plain.split(' OR ').some(isPermissive)
  return plain.split(' AND ').every((part) => permissive.has(part))
}
