import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { factsOf, misfits, recipe } from '../../.ci/release/targets.mjs'
import { buildNames } from '../../dist/engine/targets.js'

const root = join(fileURLToPath(import.meta.url), '../../..')
const targets: string[] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).napi.targets

test('each target is built under the name that idlest looks for', (t) => {
  for (const target of targets) {
    const { platform, arch, name } = factsOf(target)
    const libc = target.endsWith('musl') ? 'musl' : 'gnu'
    t.deepEqual(buildNames(platform, arch, libc), [name], target)
  }
})

test('Linux is linked for an old glibc or for musl, Windows without a runtime beside it', (t) => {
  t.deepEqual(recipe('aarch64-unknown-linux-gnu').options, [
    ...['--target', 'aarch64-unknown-linux-gnu.2.17', '--cross-compile'],
  ])
  t.deepEqual(recipe('x86_64-unknown-linux-musl').options, [
    ...['--target', 'x86_64-unknown-linux-musl', '--cross-compile'],
  ])
  t.deepEqual(recipe('x86_64-pc-windows-msvc').env, {
    CARGO_TARGET_X86_64_PC_WINDOWS_MSVC_RUSTFLAGS: '-C target-feature=+crt-static',
  })
  t.deepEqual(recipe('aarch64-apple-darwin'), { options: ['--target', 'aarch64-apple-darwin'], env: {} })
})

test('an addon that is not of its target, or asks for too new a glibc, is told', (t) => {
  const gnu = 'x86_64-unknown-linux-gnu'
  const linux = { platform: 'linux', arch: 'x64' }
  t.deepEqual(misfits(gnu, { ...linux, glibc: '2.17' }), [])
  t.deepEqual(misfits(gnu, { ...linux, glibc: '2.9' }), [])
  t.deepEqual(misfits(gnu, { ...linux, glibc: '2.33' }), ['asks for glibc 2.33: 2.17 is the newest allowed'])
  t.deepEqual(misfits(gnu, linux), ['asks for no glibc'])
  t.deepEqual(misfits('x86_64-unknown-linux-musl', linux), [])
  t.deepEqual(misfits('x86_64-unknown-linux-musl', { ...linux, glibc: '2.17' }), ['asks for glibc 2.17'])
  t.deepEqual(misfits('aarch64-apple-darwin', linux), ['is for linux x64, not for darwin arm64'])
})
