// `npm run build:native -- --target x86_64-unknown-linux-musl`: builds the addon of one target as it is published, and
// checks that it is for that target and asks for no newer glibc than it may.
//   --into DIR  default npm/bindings
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.mjs'
import { build } from '../build.mjs'
import { noRust } from '../native.mjs'
import { addonFacts } from '../package/addon.mjs'
import { bin, onPath, run } from '../process.mjs'
import { factsOf, misfits, recipe } from './targets.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values } = argumentsOf('build:native', {
  options: { target: { type: 'string' }, into: { type: 'string', default: 'npm/bindings' } },
})

/** @param {string} target */
async function needed(target) {
  if (recipe(target).options.includes('--cross-compile') && !onPath('cargo-zigbuild'))
    return 'cargo-zigbuild is not on the PATH: pip install --require-hashes -r .ci/release/zig.txt'
  return noRust(root)
}

/**
 * @param {string} target
 * @param {string} into
 */
async function buildTarget(target, into) {
  const { options, env } = recipe(target)
  mkdirSync(into, { recursive: true })
  const { code } = await run(
    process.execPath,
    [
      bin(root, '@napi-rs/cli', 'napi'),
      ...['build', '--platform', '--release', '--no-js', ...options],
      ...['--manifest-path', 'crates/node/Cargo.toml', '--output-dir', into, '--', '--locked'],
    ],
    { cwd: root, env },
  )
  if (code !== 0) return [`napi build failed with ${code}`]
  const file = join(into, `idlest.${factsOf(target).name}.node`)
  const bytes = readFileSync(file)
  const facts = addonFacts(bytes)
  const glibc = facts.glibc === undefined ? '' : `, glibc ${facts.glibc}`
  console.log(`${file}: ${facts.platform} ${facts.arch}${glibc}, ${(bytes.length / 1000).toFixed(0)} kB`)
  return misfits(target, facts)
}

async function main() {
  const { napi } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const target = values.target ?? ''
  if (!napi.targets.includes(target)) return [`--target: expected one of ${napi.targets.join(', ')}`]
  const failed = await build(root, { native: false })
  if (failed.length > 0) return failed.map(({ step }) => `${step} failed`)
  const reason = await needed(target)
  if (reason !== undefined) return [reason]
  return buildTarget(target, join(root, values.into))
}

const problems = await main()
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
