// `npm run audit`: whether what idlest is made of is known to be unsafe, or not ours to ship. Advisories are asked for
// over the network.
//   --offline  leaves out what needs it
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.mjs'
import { npm, onPath, run } from '../process.mjs'
import { lockFiles, unpinned } from './locks.mjs'
import { shipped, shippedFaults } from './shipped.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values } = argumentsOf('audit', { options: { offline: { type: 'boolean', default: false } } })

/** The version that the rules in deny.toml were written for. */
const CARGO_DENY = '0.20.2'

/** @type {string[]} */
const failed = []

/**
 * @param {string} title
 * @param {() => Promise<number>} check resolves with an exit code
 */
async function part(title, check) {
  console.log(`\n── ${title}`)
  if ((await check()) !== 0) failed.push(title)
}

/**
 * @param {string[]} args
 * @param {string} [lock]
 */
async function npmAudit(args, lock = 'package-lock.json') {
  return (await npm(['audit', ...args], { cwd: join(root, dirname(lock)) })).code
}

/** @param {string} lock */
function read(lock) {
  return JSON.parse(readFileSync(join(root, lock), 'utf8'))
}

/**
 * @param {string[]} checks
 * @param {string[]} [options]
 */
async function deny(checks, options = []) {
  if (!onPath('cargo-deny')) {
    console.error(`cargo-deny is not on the PATH: cargo install --locked cargo-deny@${CARGO_DENY}`)
    return 1
  }
  const { code } = await run(
    'cargo',
    ['deny', '--locked', '--config', '.ci/audit/deny.toml', ...options, 'check', ...checks],
    {
      cwd: root,
    },
  )
  return code
}

async function licences() {
  const lock = read('package-lock.json')
  const faults = shippedFaults(lock)
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) return 1
  console.log(`${shipped(lock).length} packages come with idlest: permissive licences, no install scripts`)
  return 0
}

const locks = lockFiles(root)

async function pins() {
  const faults = locks.flatMap((lock) => unpinned(read(lock)).map((fault) => `${lock}: ${fault}`))
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) return 1
  console.log(`${locks.length} lock files: each package is known by its content`)
  return 0
}

await part('npm: contents of all that is locked', pins)
await part('npm: licences and install scripts of what is shipped', licences)
// What is there for tests alone is not shipped.
await part('crates: licences, duplicates, sources of what is shipped', () =>
  deny(['licenses', 'bans', 'sources'], ['--exclude-dev']),
)
if (values.offline) console.log('\n── left out: advisories of npm and crates, signatures of npm')
else {
  await part('npm: advisories on what is shipped', () => npmAudit(['--omit=dev']))
  // A fault of a tool that only ever sees this repository is no reason to stop, unless it is a grave one.
  for (const lock of locks) {
    // Most are not installed here.
    const args = ['--audit-level=high', '--package-lock-only']
    await part(`npm: grave advisories on tools, by ${lock}`, () => npmAudit(args, lock))
  }
  await part('npm: signatures', () => npmAudit(['signatures']))
  await part('crates: advisories', () => deny(['advisories']))
}
if (failed.length > 0) {
  console.error(`\ndid not pass: ${failed.join('; ')}`)
  process.exitCode = 1
}
