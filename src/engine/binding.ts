import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineError } from '../errors.js'
import { isBundled, isClone, ownUrl, ownVersion } from '../own-package.js'
import { ABI } from './abi.js'
import { isCutShort } from './elf.js'
import { type Libc, libcOf } from './libc.js'
import { firstLine, type LoadReason, missingError } from './missing.js'
import type { NativeBinding } from './native.js'
import { buildNames, fileOf, othersThan, packageOf } from './targets.js'

/** What came of looking for the addon. */
export type LoadResult =
  | { readonly kind: 'loaded'; readonly binding: NativeBinding; readonly from: string }
  | { readonly kind: 'missing'; readonly reasons: readonly LoadReason[]; readonly error: EngineError }

/** How a module is loaded: as by `createRequire`. */
interface Load {
  (id: string): unknown
  readonly resolve?: (id: string) => string
}

/** Where to look for the addon. */
export interface LoadOptions {
  /** The only place to look, where given: a path. */
  readonly path?: string | undefined
  readonly platform?: string | undefined
  readonly arch?: string | undefined
  /** The node binary whose C library counts. */
  readonly execPath?: string | undefined
  /** Loads a module by path or name; Node's own unless a test stands in. */
  readonly require?: Load | undefined
  /** The version of idlest, which that of its packages must be; undefined where it can't be known. */
  readonly version?: string | undefined
  /** The URL of the file that looks, beside which it does; this package's own, or a bundle's. */
  readonly from?: string | undefined
  /** Whether that is a bundle. */
  readonly bundled?: boolean | undefined
  /** Whether it looks from a clone, which builds the addon for itself. */
  readonly clone?: boolean | undefined
}

/** Looks for the addon: at the given path alone, or in the local build, then in the platform's package. */
export function loadBinding(options: LoadOptions = {}): LoadResult {
  const { path, platform = process.platform, arch = process.arch } = options
  const { from = ownUrl(), bundled = isBundled(), clone = isClone() } = options
  const version = 'version' in options ? options.version : ownVersion()
  const load = options.require ?? createRequire(from)
  const libc = platform === 'linux' ? libcOf(options.execPath ?? process.execPath) : undefined
  const names = buildNames(platform, arch, libc)
  const reasons: LoadReason[] = []
  const beside = names.map((name) =>
    fileURLToPath(new URL(`${bundled ? '.' : './native'}/${fileOf(name)}`, from)),
  )
  const places = path === undefined ? [...beside, ...names.map(packageOf)] : [path]
  for (const place of places) {
    const found = (place.startsWith('@') && otherVersion(load, place, version)) || tryPlace(load, place)
    if ('binding' in found) return { kind: 'loaded', binding: found.binding, from: place }
    reasons.push(found)
  }
  const error = missingError({
    system: systemOf(platform, arch, libc),
    names,
    path,
    reasons,
    version,
    bundle: bundled ? from : undefined,
    clone,
    installed: path === undefined ? othersThan(names).filter((name) => isInstalled(load, name)) : [],
  })
  return { kind: 'missing', reasons, error }
}

function systemOf(platform: string, arch: string, libc: Libc | undefined): string {
  if (platform !== 'linux') return `${platform} ${arch}`
  return `${platform} ${arch} ${libc ?? 'libc unknown'}`
}

// Before it is loaded: an addon can't be unloaded. Where there is no such package, loading it tells why.
function otherVersion(load: Load, name: string, wanted: string | undefined): LoadReason | undefined {
  const found = versionOf(load, name)
  if (wanted === undefined || found === undefined || found === wanted) return undefined
  return { tried: name, why: `it is version ${found}, and this is idlest ${wanted}`, absent: false }
}

function versionOf(load: Load, name: string): string | undefined {
  try {
    const { version } = load(`${name}/package.json`) as { version?: unknown }
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}

function isInstalled(load: Load, target: string): boolean {
  return versionOf(load, packageOf(target)) !== undefined
}

function tryPlace(load: Load, place: string): { binding: NativeBinding } | LoadReason {
  let loaded: unknown
  try {
    // What does not resolve is told by loading it.
    if (load.resolve !== undefined && isCutShort(load.resolve(place))) {
      return { tried: place, why: 'its file was not copied to the end', absent: false }
    }
    loaded = load(place)
  } catch (error) {
    const line = firstLine(error)
    if (!isAbsent(error, place)) return { tried: place, why: line, error, absent: false }
    // Others than Node, such as Yarn's Plug'n'Play, say more.
    const why = line.startsWith(`Cannot find module '${place}'`) ? 'not there' : line
    return { tried: place, why, absent: true }
  }
  return checkBinding(loaded, place)
}

const ABSENT: ReadonlySet<unknown> = new Set([
  'MODULE_NOT_FOUND',
  'ERR_MODULE_NOT_FOUND',
  'UNDECLARED_DEPENDENCY',
  'MISSING_DEPENDENCY',
  'MISSING_PEER_DEPENDENCY',
])

// A package that is there but lacks its file says the same, of another module: that is a fault, not an absence.
function isAbsent(error: unknown, place: string): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error) || !ABSENT.has(error.code))
    return false
  const rest = firstLine(error).split(place).slice(1)
  return rest.length > 0 && rest.every((after) => !/^[\w/\\.-]*[\w/\\-]/.test(after))
}

function checkBinding(loaded: unknown, place: string): { binding: NativeBinding } | LoadReason {
  const refused = (why: string, error?: unknown): LoadReason => ({
    tried: place,
    why,
    absent: false,
    ...(error !== undefined && { error }),
  })
  // Whatever it is, it may throw at each touch.
  try {
    const candidate = loaded as Partial<NativeBinding> | null | undefined
    if (typeof candidate?.abi !== 'function') return refused('it is not an addon of idlest')
    const abi: unknown = candidate.abi()
    if (abi !== ABI || typeof candidate.Core !== 'function') {
      return refused(`its interface is version ${String(abi)}, and this idlest needs ${ABI}`)
    }
    return { binding: candidate as NativeBinding }
  } catch (error) {
    return refused(firstLine(error), error)
  }
}

// By path: tests and long-lived processes may change the variable.
const results = new Map<string | undefined, LoadResult>()

/**
 * The addon of this process, looked for once; `IDLEST_BINDING_PATH` names the only place to look: a path, from the working
 * directory, or a file URL.
 */
export function processBinding(): LoadResult {
  const path = pathOf(process.env.IDLEST_BINDING_PATH)
  let result = results.get(path)
  if (result === undefined) {
    result = loadBinding({ path })
    results.set(path, result)
  }
  return result
}

function pathOf(given: string | undefined): string | undefined {
  if (!given) return undefined
  try {
    return given.startsWith('file:') ? fileURLToPath(given) : resolve(given)
  } catch {
    // It is told as it was given.
    return given
  }
}
