import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { locked } from '../lock.mjs'
import { npm, run } from '../process.mjs'
import { progress } from '../progress.mjs'
import { fingerprint, once } from '../stamp.mjs'

/** Where the runtimes go: their own folder, so that who installs idlest's packages need not have them. */
const CACHE = 'node_modules/.cache/idlest/runtimes'
const FILES = ['package.json', 'package-lock.json']

/** The runtimes by their short names, as `--only` takes them. */
export const names = ['20', '22', '24', '26', 'bun', 'deno']

/**
 * @typedef {object} Runtime
 * @property {string} name `20` to `26`, `bun` or `deno`
 * @property {'node' | 'bun' | 'deno'} kind
 * @property {string} path of its binary
 * @property {string} version as it says itself
 * @property {string} engine what `engine: 'auto'` picks with: `native` or `portable`
 * @property {string} addon `loads`, or why it does not
 */

/**
 * Brings all runtimes that npm has for this platform, in the versions that the lock file beside this module names.
 * No install script runs: the binaries are in the platform's packages.
 * @param {string} root of the repository
 * @returns {Promise<boolean>} whether they are there
 */
export async function installRuntimes(root) {
  const own = FILES.map((file) => `.ci/matrix/${file}`)
  const work = {
    root,
    stamp: `${CACHE}/.installed.json`,
    inputs: fingerprint(root, own, [process.platform, process.arch]),
    async make() {
      mkdirSync(join(root, CACHE), { recursive: true })
      for (const file of FILES) cpSync(join(root, '.ci/matrix', file), join(root, CACHE, file))
      const { code, output } = await progress('installing the runtimes', () =>
        npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
          cwd: join(root, CACHE),
          quiet: true,
        }),
      )
      if (code === 0) return [`${CACHE}/node_modules`]
      console.error(output)
      return undefined
    },
  }
  // Two runs at once must not both install.
  return (await locked(join(root, '.build.lock'), () => once(work))) !== 'failed'
}

/**
 * Where a runtime's binary is, if npm has the runtime for this platform.
 * @param {string} root
 * @param {string} name
 * @returns {string | undefined}
 */
export function binaryOf(root, name) {
  const modules = join(root, CACHE, 'node_modules')
  return placesOf(name, process.platform, process.arch)
    .map((place) => join(modules, place))
    .find((path) => existsSync(path))
}

/**
 * Where a runtime's binary may be, below `node_modules`: each comes in a package of its platform's.
 * @param {string} name
 * @param {string} platform
 * @param {string} arch
 */
export function placesOf(name, platform, arch) {
  const exe = platform === 'win32' ? '.exe' : ''
  if (name === 'bun') {
    const system = platform === 'win32' ? 'windows' : platform
    const target = `${system}-${arch === 'arm64' ? 'aarch64' : arch}`
    return [target, `${target}-musl`].map((it) => `@oven/bun-${it}/bin/bun${exe}`)
  }
  if (name === 'deno') {
    const target = `${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`
    return [`@deno/${target}/deno${exe}`]
  }
  return [`node-${name}-${platform}-${arch}/bin/node${exe}`]
}

/** @param {string} name */
const kindOf = (name) => (name === 'bun' || name === 'deno' ? name : 'node')

/**
 * The command line that makes a runtime run a module.
 * @param {Pick<Runtime, 'kind' | 'path'>} runtime
 * @param {string[]} args the module and its arguments
 * @returns {{ file: string, args: string[], env: Record<string, string> }}
 */
export function command({ kind, path }, args) {
  if (kind === 'bun') return { file: path, args: ['--bun', ...args], env: {} }
  if (kind === 'deno') {
    return {
      file: path,
      args: ['run', '--allow-all', '--node-modules-dir=manual', ...args],
      // The tests import TypeScript by the name of what it compiles to.
      env: { DENO_UNSTABLE_SLOPPY_IMPORTS: '1', DENO_NO_UPDATE_CHECK: '1' },
    }
  }
  return { file: path, args, env: {} }
}

/**
 * Asks a runtime what it is and what it makes of the addon.
 * @param {string} root
 * @param {string} name
 * @returns {Promise<Runtime | undefined>} nothing where npm has none for this platform
 */
export async function probe(root, name) {
  const path = binaryOf(root, name)
  if (path === undefined) return undefined
  const kind = kindOf(name)
  const { file, args, env } = command({ kind, path }, [join(root, '.ci/matrix/probe.mjs')])
  const { code, output } = await run(file, args, { cwd: root, env, quiet: true })
  if (code !== 0) throw new Error(`${name} does not run: ${output}`)
  return { name, kind, path, ...JSON.parse(output.trim().split('\n').at(-1) ?? '') }
}
