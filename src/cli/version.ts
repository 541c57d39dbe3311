import { ownVersion } from '../own-package.js'

/** This package's version. */
export function packageVersion(): string {
  return ownVersion() ?? 'of a bundle'
}
