// What every npm script of this repository runs first: `node .ci/prepare.mjs [--bench] [--tests] [--strict]`.
// It imports nothing that is not part of Node, since it is what installs the packages.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

const root = join(fileURLToPath(import.meta.url), '../..')
const failed = await build(root, {
  bench: process.argv.includes('--bench'),
  tests: process.argv.includes('--tests'),
})
const strict = process.argv.includes('--strict')
if (failed.some(({ fatal }) => fatal || strict)) process.exitCode = 1
