import { readFileSync } from 'node:fs'
import { PeerError } from '../errors.js'
import { isBundled, isClone, ownRequire, ownUrl, ownVersion } from '../own-package.js'

/** The package that has the pages: who only picks does not need them. */
const PACKAGE = '@idlest/pages'

/**
 * A file of the pages, such as `scene.html`: of those that were built here, else of the package.
 * @throws PeerError where there are none, or those of another version
 */
export function readPage(name: string): Buffer {
  try {
    // What lies beside a bundle is not idlest's.
    if (!isBundled()) return readFileSync(new URL(`./pages/${name}`, ownUrl()))
  } catch {
    // Then they are a package of their own.
  }
  return fromPackage(name)
}

function fromPackage(name: string): Buffer {
  const own = ownVersion()
  let version: string
  let body: Buffer
  try {
    version = String((ownRequire(`${PACKAGE}/package.json`) as { version: unknown }).version)
    body = readFileSync(ownRequire.resolve(`${PACKAGE}/${name}`))
  } catch (error) {
    throw new PeerError(PACKAGE, undefined, own ?? 'latest', missing(), error)
  }
  // A page and what it shows are of one make.
  if (own !== undefined && version !== own) throw new PeerError(PACKAGE, version, own, `is ${version}`)
  return body
}

function missing(): string {
  if (isBundled()) return 'is not beside the bundle that idlest runs from (--external:idlest leaves it out)'
  return isClone() ? 'is not installed, nor built here (npm run build)' : 'is not installed'
}
