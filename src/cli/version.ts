import { ownVersion } from '../own-place.js'

/** This package's version. */
export function packageVersion(): string {
  return ownVersion() ?? 'of a bundle'
}
