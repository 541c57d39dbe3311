import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

// What CommonJS has; a module has none.
declare const __filename: string | undefined

// Of a bundle it may be none of a file: where that was imported by `data:` or `http:`, or was made on a system whose paths
// mean nothing here.
const moduleUrl = ofFile(import.meta.url as string | undefined)

function ofFile(url: string | undefined): string | undefined {
  try {
    return url === undefined ? undefined : fileURLToPath(url) && url
  } catch {
    return undefined
  }
}

/**
 * The URL of the file that idlest runs from: this module's, or that of the bundle that it is part of. CommonJS bundles have
 * no `import.meta.url`; in a single executable, and where a bundle comes from no file, it is the executable's.
 */
export function ownUrl(): string {
  return moduleUrl ?? pathToFileURL(typeof __filename === 'string' ? __filename : process.execPath).href
}

/** Whether `import.meta.url` is the URL of a file. */
export const hasModuleUrl = moduleUrl !== undefined

/** Whether idlest is part of a bundle: then nothing of this package lies beside it. */
export function isBundled(): boolean {
  // Loaders of sources put a query behind it.
  const [file = ''] = (moduleUrl ?? '').split(/[?#]/, 1)
  if (!/^file:.*\/own-package\.[jt]s$/.test(file)) return true
  // Some bundlers write the URL of where they ran.
  return !existsSync(new URL(file))
}

/** Loads what is installed where this package is, or the bundle that it is part of. */
export const ownRequire = createRequire(ownUrl())

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
