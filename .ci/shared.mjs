// `node .ci/shared.mjs`: what TypeScript and Rust must both have is the same in both, and the number of the addon's interface
// follows from it. The number is written by each build (`--write`); without that this only looks.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

/**
 * @typedef {object} Shared
 * @property {string} ts a module that declares numbers
 * @property {string} rust where the same names are
 * @property {boolean} isWhole whether both have the same names; else TypeScript has some of its own, and Rust private ones
 */

/** @type {readonly Shared[]} */
const LAYOUTS = [
  { ts: 'src/table/layout.ts', rust: 'crates/core/src/layout.rs', isWhole: false },
  { ts: 'src/table/file/layout.ts', rust: 'crates/file/src/shared_file.rs', isWhole: false },
  { ts: 'src/engine/engine.ts', rust: 'crates/core/src/codes.rs', isWhole: true },
  { ts: 'src/engine/key-tables.ts', rust: 'crates/core/src/algorithms/maglev.rs', isWhole: false },
  { ts: 'src/engine/pair-layout.ts', rust: 'crates/core/src/pairs.rs', isWhole: true },
  { ts: 'src/engine/events-layout.ts', rust: 'crates/node/src/events.rs', isWhole: true },
]

/** Places of metrics: in Rust constants, in TypeScript a list. */
const METRICS = {
  CPU: 'cpu',
  APPLICATION: 'application',
  QPS: 'qps',
  EPS: 'eps',
  IN_FLIGHT_METRIC: 'inFlight',
  LATENCY_METRIC: 'latency',
}

/**
 * All constants that are shared: the layouts, and of each algorithm its `constants`.
 * @param {string} root
 * @returns {Shared[]}
 */
function allShared(root) {
  const folders = readdirSync(join(root, 'src/algorithms'), { withFileTypes: true })
  const ofAlgorithms = folders
    .filter((folder) => folder.isDirectory())
    .map(({ name }) => ({
      ts: `src/algorithms/${name}/constants.ts`,
      rust: `crates/core/src/algorithms/${name.replaceAll('-', '_')}/constants.rs`,
      isWhole: true,
    }))
    .filter(({ ts, rust }) => existsSync(join(root, ts)) || existsSync(join(root, rust)))
  return [...LAYOUTS, ...ofAlgorithms]
}

/**
 * The numbers that a module of TypeScript declares, exported or not.
 * @param {string} source
 * @returns {Promise<Map<string, number>>}
 */
export async function numbersInTypeScript(source) {
  // Without imports, which lead nowhere from here: no number is made of what is imported.
  const alone = source.replace(/^import\b[^'"]*['"][^'"]*['"]$/gm, '').replace(/^const /gm, 'export const ')
  const { code } = transformSync(alone, { loader: 'ts', format: 'esm' })
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  const numbers = new Map()
  for (const [name, value] of Object.entries(module)) if (typeof value === 'number') numbers.set(name, value)
  const { METRICS: names = [] } = module
  if (names.length > 0) numbers.set('NAMED', names.length)
  for (const [name, metric] of Object.entries(METRICS)) {
    if (names.includes(metric)) numbers.set(name, names.indexOf(metric))
  }
  return numbers
}

/**
 * The numbers that a module of Rust declares.
 * @param {string} source
 * @returns {Map<string, number>}
 */
export function numbersInRust(source) {
  const numbers = new Map()
  for (const [, name = '', value = ''] of source.matchAll(/^(?:pub )?const (\w+): \w+ =\s*([^;]+);/gm)) {
    const text = value
      .replace(/\b\d\w*/g, (number) => number.replaceAll('_', ''))
      .replace(/u32::MAX/g, '4294967295')
      .replace(/f64::INFINITY/g, '(1 / 0)')
      .replace(/1 << (\w+)/g, '2 ** $1')
      .replace(/ as \w+/g, '')
      .replace(/\b[A-Z][A-Z_]*\b/g, (known) => String(numbers.get(known)))
    if (/^[\d.xa-f+\-*/() ]+$/.test(text)) numbers.set(name, Number(new Function(`return ${text}`)()))
  }
  return numbers
}

/**
 * The names of a module of Rust that others use.
 * @param {string} source
 * @returns {Set<string>}
 */
export function publicInRust(source) {
  return new Set([...source.matchAll(/^pub const (\w+):/gm)].map(([, name = '']) => name))
}

/**
 * What is not the same in both.
 * @param {ReadonlyMap<string, number>} ts
 * @param {ReadonlyMap<string, number>} rust
 * @param {(name: string) => boolean} isNeeded whether a name must be in both
 * @returns {string[]}
 */
export function differences(ts, rust, isNeeded) {
  const found = []
  for (const name of new Set([...ts.keys(), ...rust.keys()])) {
    const [one, other] = [ts.get(name), rust.get(name)]
    const isMissing = one === undefined || other === undefined
    if (isMissing ? isNeeded(name) : one !== other)
      found.push(`${name} is ${one} in TypeScript and ${other} in Rust`)
  }
  return found
}

/**
 * What matches in the sources of a folder, white space apart.
 * @param {string} folder
 * @param {RegExp} pattern
 * @returns {string[]}
 */
function matchesIn(folder, pattern) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.rs'))
    .sort()
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), 'utf8')
      return [...source.matchAll(pattern)].map(([match]) => match.replace(/\s+/g, ' '))
    })
}

/**
 * The calls that the addon has, and the options that its algorithms take, as its sources say: what of them changes, changes
 * the number.
 * @param {string} root
 * @returns {string[]}
 */
function callsOf(root) {
  return [
    ...matchesIn(join(root, 'crates/node/src'), /#\[napi[^\]]*\][^{]*\{/g),
    ...matchesIn(
      join(root, 'crates/core/src/algorithms'),
      /\boptions\s*\.\w+\(\s*"\w+"[^;{]*?\)\?|"\w+" => \w+::make/g,
    ),
  ]
}

/**
 * @param {string} root
 * @returns {Promise<{ problems: string[], abi: number, names: Set<string> }>} `names`: of what both have
 */
export async function shared(root) {
  const problems = []
  const names = new Set()
  const hash = createHash('sha256')
  for (const { ts, rust, isWhole } of allShared(root)) {
    const missing = [ts, rust].find((file) => !existsSync(join(root, file)))
    if (missing !== undefined) {
      problems.push(`${missing} is not there, beside ${missing === ts ? rust : ts}`)
      continue
    }
    const inTs = await numbersInTypeScript(readFileSync(join(root, ts), 'utf8'))
    const rustSource = readFileSync(join(root, rust), 'utf8')
    const inRust = numbersInRust(rustSource)
    const inPublic = publicInRust(rustSource)
    if (![...inTs.keys()].some((name) => inRust.has(name)))
      problems.push(`${ts} and ${rust} have no name in common`)
    const isNeeded = (/** @type {string} */ name) => isWhole || (inRust.has(name) && inPublic.has(name))
    for (const difference of differences(inTs, inRust, isNeeded)) problems.push(`${ts}: ${difference}`)
    for (const name of inTs.keys()) if (inRust.has(name)) names.add(name)
    for (const [name, value] of [...inTs].sort()) hash.update(`${ts} ${name} ${value}\n`)
  }
  for (const call of callsOf(root)) hash.update(`${call}\n`)
  return { problems, abi: hash.digest().readUInt32LE(), names }
}

// Read by the build of the addon too: crates/node/build.rs.
const ABI_FILE = 'src/engine/abi.ts'

/** @param {number} abi */
const written = (abi) =>
  `/** The addon's interface that this package is written for; .ci/shared.mjs makes it of what both have. */\nexport const ABI = ${abi}\n`

/**
 * @param {string} root
 * @param {number} abi
 */
function isCurrent(root, abi) {
  const path = join(root, ABI_FILE)
  return existsSync(path) && readFileSync(path, 'utf8') === written(abi)
}

/**
 * Writes the number where it is another. Throws where both languages do not have the same.
 * @param {string} root
 */
export async function writeAbi(root) {
  const { problems, abi } = await shared(root)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  if (!isCurrent(root, abi)) writeFileSync(join(root, ABI_FILE), written(abi))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(fileURLToPath(import.meta.url), '../..')
  if (process.argv.includes('--write')) await writeAbi(root)
  else {
    const { problems, abi } = await shared(root)
    if (!isCurrent(root, abi))
      problems.push(`${ABI_FILE} is not of what is shared: node .ci/shared.mjs --write`)
    for (const problem of problems) console.error(problem)
    if (problems.length > 0) process.exitCode = 1
  }
}
