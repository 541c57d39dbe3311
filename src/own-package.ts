import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// What CommonJS has; a module has none.
declare const __filename: string | undefined

/**
 * The URL of the file that a module of idlest runs from, by its `import.meta.url`; this module's by default. CommonJS
 * bundles leave that empty: the bundle's own file stands in for it, which in a single executable is the executable.
 */
export function ownUrl(url = import.meta.url as string | undefined): string {
  return url ?? pathToFileURL(typeof __filename === 'string' ? __filename : process.execPath).href
}

/**
 * Whether a module runs from another file than its own, which it then finds nothing beside.
 * @param url of the module, its `import.meta.url`; this module's by default
 * @param name its path in the package, such as `engine/load`
 */
export function isBundled(url = import.meta.url as string | undefined, name = 'own-package'): boolean {
  // Loaders of sources put a query behind it.
  const [file = ''] = (url ?? '').split(/[?#]/, 1)
  if (!file.startsWith('file:') || !new RegExp(`/${name}\\.[jt]s$`).test(file)) return true
  // Some bundlers write the URL of where they ran.
  return !existsSync(new URL(file))
}

/** Loads what is installed where this package is, or the bundle that it is part of. */
export const ownRequire = createRequire(ownUrl())

/** What bundlers are to be told. */
export const KEEP_EXTERNAL = 'keep idlest external in the bundler (esbuild: --external:idlest)'

interface OwnPackage {
  readonly name?: unknown
  readonly version?: unknown
  readonly private?: unknown
}

function ownPackage(): OwnPackage | undefined {
  try {
    const found = ownRequire('../package.json') as OwnPackage
    // Beside a bundle it is another's.
    return found.name === 'idlest' ? found : undefined
  } catch {
    return undefined
  }
}

/** The version of idlest; undefined in a bundle. */
export function ownVersion(): string | undefined {
  const version = ownPackage()?.version
  return typeof version === 'string' ? version : undefined
}

/** Whether idlest runs from a clone of its source, which builds for itself what is installed elsewhere. */
export function isClone(): boolean {
  return ownPackage()?.private === true
}
