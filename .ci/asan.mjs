// `npm run asan`: AddressSanitizer and LeakSanitizer over the tests of the Rust crates, then AddressSanitizer over the addon in
// Node.js: some of ava's tests, and threads that are terminated. Needs a nightly toolchain of Rust with its sanitizer runtimes
// (rustup toolchain install nightly), gcc, and Linux on x86-64. `--crates`, `--addon`: one of both.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf, stop } from './arguments.mjs'
import { bin, run } from './process.mjs'

const root = join(fileURLToPath(import.meta.url), '../..')
const { values } = argumentsOf('asan', {
  options: { crates: { type: 'boolean', default: false }, addon: { type: 'boolean', default: false } },
})
const target = 'x86_64-unknown-linux-gnu'
const folder = join(root, 'target/asan')
const env = {
  RUSTFLAGS: '-Zsanitizer=address',
  CARGO_TARGET_DIR: folder,
  ASAN_OPTIONS: 'detect_leaks=1:detect_stack_use_after_return=1',
}

/** What is run in Node.js with the addon: programs by themselves, and tests. */
const programs = [
  ['test/robust/programs/acceptance.mjs'],
  ['test/robust/programs/comers.mjs', 'native', '25'],
  ['test/fixtures/native-loader/workers.mjs', '20'],
  ['--expose-gc', 'test/fixtures/native-loader/pickers.mjs'],
  ['--expose-gc', 'test/robust/programs/leaks.mjs', 'balancers', '200'],
  ['--expose-gc', 'test/robust/programs/leaks.mjs', 'attached', '200'],
  ['--expose-gc', 'test/robust/programs/leaks.mjs', 'files', '50', join(folder, 'table')],
]
const tests = [
  'test/engine/same-picks.test.ts',
  'test/engine/native-loader-binding.test.ts',
  'test/engine/key-tables.test.ts',
  'test/balancer/attached.test.ts',
  'test/table/file/sharing.test.ts',
]

/**
 * @param {string} title
 * @param {string} file
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
async function step(title, file, args, env) {
  console.log(`\n── ${title}`)
  const { code } = await run(file, args, { cwd: root, env })
  if (code !== 0) failed.push(title)
}

/** @type {string[]} */
const failed = []

async function crates() {
  const args = ['+nightly', 'test', '--locked', '--no-fail-fast', '--target', target]
  await step('tests of the crates', 'cargo', [...args, '-p', 'idlest-core', '-p', 'idlest-file'], env)
}

// Rust links the runtime to programs alone: for one that it did not build, it has to be a library that is loaded first. That
// has no place for what is to run before any library; and it refuses to be called libasan.
async function runtime() {
  const { output } = await run('rustc', ['+nightly', '--print', 'sysroot'], { quiet: true })
  const archive = join(output.trim(), 'lib/rustlib', target, 'lib/librustc-nightly_rt.asan.a')
  if (!existsSync(archive)) stop(`no runtime of AddressSanitizer: ${archive}`)
  const [copy, library] = [join(folder, 'rt.a'), join(folder, 'runtime.so')]
  copyFileSync(archive, copy)
  await run('ar', ['d', copy, 'asan_preinit.cpp.o'])
  const whole = ['-Wl,--whole-archive', copy, '-Wl,--no-whole-archive']
  const { code } = await run('gcc', [
    '-shared',
    '-o',
    library,
    ...whole,
    '-lpthread',
    '-ldl',
    '-lm',
    '-lstdc++',
  ])
  if (code !== 0) stop('the runtime could not be made a library')
  return library
}

async function addon() {
  const args = ['+nightly', 'build', '--locked', '--target', target, '-p', 'idlest-node']
  await step('the addon', 'cargo', args, env)
  if (failed.length > 0) return
  const built = join(folder, 'idlest.node')
  copyFileSync(join(folder, target, 'debug/libidlest_node.so'), built)
  const inNode = {
    LD_PRELOAD: await runtime(),
    // What Node.js itself still has at its end is none of ours.
    ASAN_OPTIONS: 'detect_leaks=0',
    IDLEST_BINDING_PATH: built,
    IDLEST_ENGINE: '',
  }
  for (const args of programs) await step(args.join(' '), process.execPath, args, inNode)
  await step('tests', process.execPath, [bin(root, 'ava', 'ava'), '--timeout=20m', ...tests], inNode)
}

const { code } = await run('cargo', ['+nightly', '--version'], { quiet: true })
if (code !== 0) stop('no nightly toolchain of Rust: rustup toolchain install nightly')
mkdirSync(folder, { recursive: true })
if (!values.addon) await crates()
if (!values.crates) await addon()
console.log(failed.length === 0 ? '\nnothing was found' : `\nfailed: ${failed.join(', ')}`)
if (failed.length > 0) process.exitCode = 1
