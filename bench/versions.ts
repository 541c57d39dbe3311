import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { peerVersions } from './compare/version.js'
import { count } from './numbers.js'

/** What was measured, and what it ran on. */
export interface Versions {
  readonly idlest: string
  /** The commit that was checked out, with `+` where files were changed since; undefined outside a clone. */
  readonly commit?: string
  readonly node: string
  readonly v8: string
  readonly addon?: Addon
  /** Of the packages that it is compared with. */
  readonly peers: Readonly<Record<string, string>>
}

/** How the native engine was built. */
export interface Addon {
  readonly file: string
  readonly bytes: number
  /** What compiled it, as it says itself. */
  readonly rustc?: string
}

const root = fileURLToPath(new URL('..', import.meta.url))

export function theseVersions(): Versions {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
  const commit = commitOf(root)
  const addon = addonOf(`${root}dist/native`)
  return {
    idlest: version,
    ...(commit !== undefined && { commit }),
    node: process.versions.node,
    v8: process.versions.v8,
    ...(addon !== undefined && { addon }),
    peers: peerVersions(),
  }
}

/** All versions in a few lines. */
export function versionLines({ idlest, commit, node, v8, addon, peers }: Versions): string[] {
  return [
    `idlest ${idlest}${commit === undefined ? '' : `, commit ${commit}`}; Node.js ${node}, V8 ${v8}`,
    addon === undefined
      ? 'no native addon'
      : `native addon ${addon.file}, ${count(addon.bytes)} bytes, by ${addon.rustc ?? 'an unknown compiler'}`,
    `compared with ${Object.entries(peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
  ]
}

function commitOf(folder: string): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    // Results and pages change by being written.
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', 'src', 'crates', 'bench/*.ts')
    return `${git('rev-parse', '--short=10', 'HEAD')}${changed === '' ? '' : '+'}`
  } catch {
    return undefined
  }
}

function addonOf(folder: string): Addon | undefined {
  try {
    const file = readdirSync(folder).find((name) => name.endsWith('.node'))
    if (file === undefined) return undefined
    const content = readFileSync(`${folder}/${file}`)
    const rustc = rustcOf(content)
    return { file, bytes: content.length, ...(rustc !== undefined && { rustc }) }
  } catch {
    return undefined
  }
}

const MARK = 'rustc version '

// The compiler leaves its name in what it makes.
function rustcOf(content: Buffer): string | undefined {
  const start = content.indexOf(MARK)
  if (start < 0) return undefined
  const text = content.toString('latin1', start, start + 100)
  return /^rustc version (\d+\.\d+\.\d+\S*(?: \([^)]*\))?)/.exec(text)?.[0].replace('version ', '')
}
