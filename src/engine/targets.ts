import type { Libc } from './libc.js'

/** The builds that are published, each as a package of its own. */
const TARGETS: readonly string[] = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
  'win32-arm64-msvc',
  'win32-x64-msvc',
]

/** The package that has a build. */
export function packageOf(target: string): string {
  return `@idlest/binding-${target}`
}

/** The file of a build. */
export function fileOf(target: string): string {
  return `idlest.${target}.node`
}

/**
 * Names of the builds that may fit a process, likeliest first: `linux-x64-gnu`, `darwin-arm64`, `win32-x64-msvc`.
 * Both C libraries where it is not known which.
 */
export function buildNames(platform: string, arch: string, libc: Libc | undefined): string[] {
  if (platform === 'win32') return [`win32-${arch}-msvc`]
  if (platform !== 'linux') return [`${platform}-${arch}`]
  return (libc === undefined ? ['gnu', 'musl'] : [libc]).map((name) => `linux-${arch}-${name}`)
}

/** Those of the builds that are published. */
export function publishedOf(names: readonly string[]): string[] {
  return names.filter((name) => TARGETS.includes(name))
}

/** The published builds for other systems. */
export function othersThan(names: readonly string[]): string[] {
  return TARGETS.filter((target) => !names.includes(target))
}
