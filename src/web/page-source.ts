import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { PeerError } from '../errors.js'
import { isBundled, isClone, KEEP_EXTERNAL, ownUrl, ownVersion } from '../own-package.js'

/** The package that has the pages: who only picks does not need them. */
const PACKAGE = '@idlest/pages'

/**
 * A file of the pages, such as `scene.html`: of those that were built here, else of the package.
 * @throws PeerError where there are none, or those of another version
 */
export function readPage(name: string): Buffer {
  const bundled = isBundled(import.meta.url, 'web/page-source')
  try {
    // What lies beside a bundle is not idlest's.
    if (!bundled) return readFileSync(new URL(`../pages/${name}`, import.meta.url))
  } catch {
    // Then they are a package of their own.
  }
  return fromPackage(name, bundled)
}

function fromPackage(name: string, bundled: boolean): Buffer {
  const require = createRequire(ownUrl(import.meta.url))
  const own = ownVersion()
  let version: string
  let body: Buffer
  try {
    version = String((require(`${PACKAGE}/package.json`) as { version: unknown }).version)
    body = readFileSync(require.resolve(`${PACKAGE}/${name}`))
  } catch (error) {
    throw new PeerError(PACKAGE, undefined, own ?? 'latest', missing(bundled), error)
  }
  // A page and what it shows are of one make.
  if (own !== undefined && version !== own) throw new PeerError(PACKAGE, version, own, `is ${version}`)
  return body
}

function missing(bundled: boolean): string {
  if (bundled) return `is not to be found from a bundle (${KEEP_EXTERNAL})`
  return isClone() ? 'is not installed, nor built here (npm run build)' : 'is not installed'
}
