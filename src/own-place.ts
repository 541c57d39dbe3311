import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// What a bundle in CommonJS has; a module has none.
declare const __filename: string | undefined

/**
 * The file that runs: this module's, or that of the bundle that it is part of. A bundle in CommonJS has no
 * `import.meta.url`, and in a single executable its file is the executable.
 */
export const ownUrl: string =
  (import.meta.url as string | undefined) ??
  pathToFileURL(typeof __filename === 'string' ? __filename : process.execPath).href

/** Whether this module is part of a bundle: then nothing of this package lies beside it. */
export const isBundled = !/\/own-place\.[jt]s(?:$|[?#])/.test(ownUrl)

/** Loads what is installed where this package is, or the bundle that it is part of. */
export const ownRequire = createRequire(ownUrl)

/** Whether this is a clone of the source, which builds for itself what is installed elsewhere. */
export function isClone(): boolean {
  return !isBundled && (ownRequire('../package.json') as { private?: boolean }).private === true
}

/** This package's version; undefined in a bundle, where the package.json above it is someone else's. */
export function ownVersion(): string | undefined {
  if (isBundled) return undefined
  return (ownRequire('../package.json') as { version: string }).version
}
