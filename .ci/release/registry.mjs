import { npm } from '../process.mjs'

/**
 * What a registry knows of a package.
 * @typedef {object} Known
 * @property {Record<string, string>} integrity of each version that is there
 * @property {string | undefined} latest the version that is `latest`
 */

/** @returns {Promise<string>} the registry that npm is set to */
export async function defaultRegistry() {
  const { code, output } = await npm(['config', 'get', 'registry'], { quiet: true })
  if (code !== 0) throw new Error(`${output}npm config get registry failed`)
  return output.trim()
}

/**
 * @param {string} registry
 * @param {string} name of a package
 * @returns {Promise<Known>}
 */
export async function known(registry, name) {
  const url = new URL(name.replace('/', '%2f'), registry.endsWith('/') ? registry : `${registry}/`)
  const response = await fetch(url, { headers: { accept: 'application/vnd.npm.install-v1+json' } })
  if (response.status === 404) return { integrity: {}, latest: undefined }
  if (!response.ok) throw new Error(`${url} answers with ${response.status}`)
  /** @type {{ versions?: Record<string, { dist?: { integrity?: string } }>, 'dist-tags'?: Record<string, string> }} */
  const answer = await response.json()
  const versions = Object.entries(answer.versions ?? {})
  return {
    integrity: Object.fromEntries(versions.map(([version, { dist }]) => [version, dist?.integrity ?? ''])),
    latest: answer['dist-tags']?.latest,
  }
}
