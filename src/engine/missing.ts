import { EngineError } from '../errors.js'
import { fileOf, packageOf, publishedOf } from './targets.js'

/** One place where the addon was looked for, and why it did not come from there. */
export interface LoadReason {
  /** A path or a package name. */
  readonly tried: string
  readonly why: string
  /** Whether there is simply nothing at that place. */
  readonly absent: boolean
  /** What was thrown; absent where there is nothing at that place. */
  readonly error?: unknown
}

/** What is known where no addon was found. */
export interface Search {
  /** What the process runs on, such as `linux x64 musl`. */
  readonly system: string
  /** The builds that may fit. */
  readonly names: readonly string[]
  /** The only place that was looked at, where one was given. */
  readonly path: string | undefined
  readonly reasons: readonly LoadReason[]
  /** The version of idlest. */
  readonly version: string | undefined
  /** The URL of the bundle that it runs from, if it does. */
  readonly bundle: string | undefined
  readonly clone: boolean
  /** Builds for other systems whose packages are installed. */
  readonly installed: readonly string[]
}

/** The error for those who need the addon, and the reason for those who do without: what was looked for, and what to do. */
export function missingError(search: Search): EngineError {
  const { system, reasons } = search
  const looked = reasons.map(({ tried, why }) => `${tried} (${why})`).join('; ')
  const causes = reasons.flatMap(({ error }) => (error === undefined ? [] : [error]))
  const cause = causes.length > 1 ? new AggregateError(causes, 'several addons did not load') : causes[0]
  return new EngineError(`no native engine for ${system}. Looked for ${looked}. ${remedy(search)}`, cause)
}

function remedy({ path, reasons, names, version, bundle, clone, installed }: Search): string {
  if (reasons.some(({ error }) => isDisabled(error))) {
    return 'Allow addons: run node without --no-addons, or with --allow-addons beside --permission.'
  }
  if (path !== undefined) return 'Set IDLEST_BINDING_PATH to an addon built for this version, or unset it.'
  const absent = reasons.every((reason) => reason.absent)
  if (absent && clone) return 'npm run build builds it where Rust is installed.'
  const published = publishedOf(names)
  if (published.length === 0) {
    return 'None is published for this system: set IDLEST_BINDING_PATH to one that you have built.'
  }
  if (absent && bundle !== undefined) {
    const files = published.map(fileOf).join(' or ')
    return (
      `It runs from the bundle ${bundle}: leave idlest out of it (esbuild: --external:idlest), or put ${files} beside ` +
      'it, or name its path by IDLEST_BINDING_PATH.'
    )
  }
  const glibc = reasons
    .map(({ why }) => /GLIBC_([\d.]+)' not found/.exec(why)?.[1])
    .find((found) => found !== undefined)
  if (glibc !== undefined) return `It needs glibc ${glibc} or later, and this system's is older.`
  const packages = published.map((name) => `${packageOf(name)}${version === undefined ? '' : `@${version}`}`)
  const command = `npm install ${packages.join(', or ')}`
  if (!absent) return `What is there does not fit: ${command}`
  if (installed.length > 0) {
    return `Installed is what other systems need (${installed.map(packageOf).join(', ')}): install where it runs, or ${command}`
  }
  return (
    'It comes with idlest, but not with --omit=optional, nor by a lock file that npm before 11.3 wrote on another ' +
    `system: ${command}`
  )
}

function isDisabled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_DLOPEN_DISABLED'
}

/** What an error says first: some go on with stacks of what was required. */
export function firstLine(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return String(message).split('\n', 1)[0] as string
}
