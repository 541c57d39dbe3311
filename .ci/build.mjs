import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from './compile.mjs'
import { buildFloor } from './floor.mjs'
import { install } from './install.mjs'
import { locked } from './lock.mjs'
import { buildNative } from './native.mjs'
import { nodeComplaint } from './node-version.mjs'
import { buildPages } from './pages.mjs'
import { compileTests } from './tests/compile.mjs'

/**
 * Brings a clone to the point where it runs: packages, dist/ with the pages, the native core, with `bench` the C++ addon, and
 * with `tests` the compiled tests. What is there and current is left alone.
 * @param {string} root
 * @param {{ bench?: boolean, native?: boolean, tests?: boolean }} [options] `native: false` leaves the native core as it is
 * @returns {Promise<{ step: 'node' | 'install' | 'compile' | 'pages' | 'native' | 'floor' | 'tests', fatal: boolean }[]>} what failed;
 * fatal: nothing runs without it
 */
export async function build(root, { bench = false, native = true, tests = false } = {}) {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const complaint = nodeComplaint(process.versions.node, engines.node)
  if (complaint) {
    console.error(complaint)
    return [{ step: 'node', fatal: true }]
  }
  const onWait = () => console.log('waiting for another build of this clone…')
  return locked(
    join(root, '.build.lock'),
    async () => {
      if ((await install(root)) === 'failed') return [{ step: 'install', fatal: true }]
      /** @type {Awaited<ReturnType<typeof build>>} */
      const failed = []
      // Not at the head of this module: there may be no packages yet.
      const { writeAbi } = await import('./shared.mjs')
      await writeAbi(root)
      if ((await compile(root)) === 'failed') failed.push({ step: 'compile', fatal: true })
      if ((await buildPages(root)) === 'failed') failed.push({ step: 'pages', fatal: false })
      if (native && (await buildNative(root)) === 'failed') failed.push({ step: 'native', fatal: false })
      if (bench && (await buildFloor(root)) === 'failed') failed.push({ step: 'floor', fatal: false })
      if (tests && (await compileTests(root)) === 'failed') failed.push({ step: 'tests', fatal: true })
      return failed
    },
    { onWait },
  )
}
