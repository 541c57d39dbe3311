// `npm run release:test -- --bindings DIR`: whether the addon for this machine, as it is published, works here. Packs it
// with idlest, installs both in an empty folder, picks natively there, and runs the acceptance part of the tests with it.
// Needs no Rust and no compiler.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { argumentsOf, stop } from '../arguments.mjs'
import { build } from '../build.mjs'
import { acceptance } from '../matrix/acceptance.mjs'
import { addonFacts } from '../package/addon.mjs'
import { bin, npm, run } from '../process.mjs'
import { filesUnder } from '../stamp.mjs'
import { factsOf, misfits } from './targets.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values } = argumentsOf('release:test', {
  options: { bindings: { type: 'string', default: join(root, 'npm/bindings') } },
})

/** The addon for this machine, and the name of its build. */
async function ownAddon() {
  const engine = pathToFileURL(join(root, 'dist/engine/')).href
  const { buildNames } = await import(`${engine}targets.js`)
  const { libcOf } = await import(`${engine}libc.js`)
  const libc = process.platform === 'linux' ? libcOf(process.execPath) : undefined
  const [name] = buildNames(process.platform, process.arch, libc)
  const file = filesUnder(values.bindings, ['.']).find((it) => basename(it) === `idlest.${name}.node`)
  if (file === undefined) stop(`--bindings ${values.bindings}: there is no idlest.${name}.node`)
  return { name, file: join(values.bindings, file) }
}

/** @param {{ name: string, file: string }} addon */
function faults({ name, file }) {
  const { napi } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const target = napi.targets.find((/** @type {string} */ it) => factsOf(it).name === name)
  if (target === undefined) return [`${name} is no target`]
  const facts = addonFacts(readFileSync(file))
  return misfits(target, facts).map((problem) => `${file} ${problem}`)
}

const program = `
const assert = require('node:assert')
const nodes = ['a', 'b', 'c']
const balancer = require('idlest').createBalancer({ nodes, poll: false, engine: 'native' })
for (const node of nodes) balancer.report(node, { cpu: 10 })
const picks = new Set(Array.from({ length: 1000 }, () => balancer.select()))
assert.deepEqual([...picks].sort(), nodes)
import('idlest').then(({ select }) => {
  assert.ok(nodes.includes(select(nodes)))
  console.log('installed from its tarballs, idlest picks natively')
})
`

/** Installs what is published as a user does, and picks. */
async function tryInstalled() {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-release-'))
  try {
    // These need packages, which were not there when this script started.
    const { stage } = await import('../package/stage.mjs')
    const { pack } = await import('../package/pack.mjs')
    const staged = await stage(root, { into: join(folder, 'staged'), bindings: values.bindings })
    const packed = await pack(staged, folder)
    const user = mkdtempSync(join(folder, 'user-'))
    writeFileSync(join(user, 'package.json'), '{ "private": true }')
    writeFileSync(join(user, 'program.cjs'), program)
    const own = (await ownAddon()).name
    const files = packed.filter(({ name }) => !name.includes('/binding-') || name.endsWith(own))
    const installed = await npm(
      // The versions that it names are not published: those that are given stand in for them.
      [
        ...['install', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
        ...files.map(({ file }) => file),
      ],
      { cwd: user, quiet: true },
    )
    if (installed.code !== 0) return [`${installed.output}npm install of the tarballs failed`]
    const ran = await run(process.execPath, ['program.cjs'], {
      cwd: user,
      env: { IDLEST_ENGINE: 'native', IDLEST_BINDING_PATH: '' },
    })
    return ran.code === 0 ? [] : ['the installed package does not pick natively']
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function main() {
  const failed = await build(root, { native: false })
  if (failed.length > 0) return failed.map(({ step }) => `${step} failed`)
  const addon = await ownAddon()
  console.log(`Node ${process.versions.node}, ${addon.name}`)
  const problems = faults(addon)
  if (problems.length > 0) return problems
  const installed = await tryInstalled()
  if (installed.length > 0) return installed
  // Where the tests look for what a clone has built. Its stamp goes, so that it is not taken for that later.
  const native = join(root, 'dist/native')
  mkdirSync(native, { recursive: true })
  rmSync(join(native, '.built.json'), { force: true })
  rmSync(join(native, basename(addon.file)), { force: true })
  copyFileSync(addon.file, join(native, basename(addon.file)))
  const ava = await run(process.execPath, [bin(root, 'ava', 'ava'), ...acceptance], { cwd: root })
  return ava.code === 0 ? [] : ['ava: tests failed with this addon']
}

const problems = await main()
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
