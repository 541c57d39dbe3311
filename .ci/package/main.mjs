// `npm run package`: builds, stages what is published under npm/, packs it, and checks the tarballs.
//   --bindings DIR  takes the addons from there, instead of the one that this machine builds
//   --all           fails where a target has no addon
//   --glibc VERSION fails where an addon asks for a newer glibc
// Imports at the top are of Node.js and of files that import no more than that: what runs first installs the packages.
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf, stop } from '../arguments.mjs'
import { build } from '../build.mjs'
import { filesUnder } from '../stamp.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const into = join(root, 'npm')
const { values } = argumentsOf('package', {
  options: {
    bindings: { type: 'string' },
    all: { type: 'boolean', default: false },
    glibc: { type: 'string' },
  },
})

const { bindings, glibc } = values
if (bindings !== undefined && !(existsSync(bindings) && addonsUnder(bindings).length > 0)) {
  stop(`--bindings ${bindings}: there is no addon, no file that ends in .node`)
}
if (glibc !== undefined && !/^\d+(\.\d+)+$/.test(glibc))
  stop(`--glibc ${glibc}: expected a version such as 2.17`)

/** @param {string} folder */
function addonsUnder(folder) {
  return filesUnder(folder, ['.']).filter((file) => file.endsWith('.node'))
}

async function main() {
  const failed = await build(root, { native: values.bindings === undefined })
  if (failed.length > 0) return false
  const [{ stage }, { pack }, { guard }, { table }] = await Promise.all([
    import('./stage.mjs'),
    import('./pack.mjs'),
    import('./guard.mjs'),
    import('./table.mjs'),
  ])
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  const repository = server && name ? `git+${server}/${name}.git` : undefined
  const staged = await stage(root, { into, bindings: values.bindings, all: values.all, repository })
  // Of a time when more was staged.
  for (const file of await readdir(into)) if (file.endsWith('.tgz')) await rm(join(into, file))
  const packed = await pack(staged, into)
  const checked = await Promise.all(packed.map((tarball) => guard(tarball, { glibc: values.glibc })))
  console.log(table(checked))
  for (const { name, problems } of checked) {
    for (const problem of problems) console.error(`${name}: ${problem}`)
  }
  return checked.every(({ problems }) => problems.length === 0)
}

if (!(await main())) process.exitCode = 1
