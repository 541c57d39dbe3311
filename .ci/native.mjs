import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { older } from './node-version.mjs'
import { bin, onPath, run } from './process.mjs'
import { progress } from './progress.mjs'
import { filesUnder, fingerprint, once } from './stamp.mjs'

/**
 * Why the Rust side can't be built here; `undefined` where it can.
 * @param {string} root
 * @returns {Promise<string | undefined>}
 */
export async function noRust(root) {
  const least = leastRust(root)
  const remedy = `install Rust ${least} or later (https://rustup.rs) and run this again`
  if (!onPath('cargo')) return `cargo is not on the PATH: ${remedy}`
  const { code, output } = await run('rustc', ['--version'], { cwd: root, quiet: true })
  const version = /^rustc (\d+\.\d+\.\d+)/m.exec(output)?.[1]
  if (code !== 0 || !version) return `rustc does not run: ${remedy}`
  return older(version, least) ? `rustc ${version} is too old: ${remedy}` : undefined
}

/**
 * Builds the native core to dist/native/, unless it is what comes of crates/. Where there is no Rust for it,
 * removes an outdated one, so that what is said of the portable engine is true.
 * @param {string} root
 * @returns {Promise<'fresh' | 'made' | 'failed' | 'portable'>}
 */
export async function buildNative(root) {
  // The number of the interface is built in.
  const crates = filesUnder(root, ['crates', 'src/engine/abi.ts'], ['tests', 'benches', 'target'])
  let portable = false
  const state = await once({
    root,
    stamp: 'dist/native/.built.json',
    inputs: fingerprint(
      root,
      ['Cargo.toml', 'Cargo.lock', ...crates],
      [process.platform, process.arch, process.env.RUSTFLAGS],
    ),
    async make() {
      // Removed, not overwritten: a process that has it mapped would crash.
      for (const file of binaries(root)) rmSync(join(root, file), { force: true })
      const reason = await noRust(root)
      if (reason) {
        portable = true
        console.log(`native core not built, the portable engine is used; for the native one: ${reason}`)
        return undefined
      }
      return build(root)
    },
  })
  return portable ? 'portable' : state
}

/** @param {string} root */
async function build(root) {
  const { code, output } = await progress('building the native core', () =>
    run(
      process.execPath,
      [
        bin(root, '@napi-rs/cli', 'napi'),
        ...['build', '--platform', '--release', '--no-js'],
        ...['--manifest-path', 'crates/node/Cargo.toml', '--output-dir', 'dist/native'],
        ...['--', '--locked'],
      ],
      { cwd: root, quiet: true },
    ),
  )
  const built = binaries(root)
  if (code === 0 && built.length > 0) return built
  console.error(`${output}cargo failed: the native core could not be built, the portable engine is used.`)
  return undefined
}

/** @param {string} root */
function binaries(root) {
  return filesUnder(root, ['dist/native']).filter((file) => file.endsWith('.node'))
}

/** @param {string} root */
function leastRust(root) {
  return /^rust-version = "(.+)"/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))?.[1] ?? '0'
}

/**
 * What has `cargo test` run the models of the table's protocol under loom.
 * @param {string} root
 * @returns {{ args: string[], env: Record<string, string> }}
 */
export function loom(root) {
  return {
    args: ['--package', 'idlest-core', '--test', 'loom'],
    env: {
      RUSTFLAGS: `${process.env.RUSTFLAGS ?? ''} --cfg loom`.trim(),
      // Its own: other flags would have cargo build everything anew at every change of hands.
      CARGO_TARGET_DIR: join(root, 'target/loom'),
    },
  }
}
