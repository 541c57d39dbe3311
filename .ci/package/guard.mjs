import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { older } from '../node-version.mjs'
import { run } from '../process.mjs'
import { filesUnder } from '../stamp.mjs'
import { addonFacts, linkProblems } from './addon.mjs'
import { brokenReferences } from './references.mjs'
import { typeProblems } from './types.mjs'

/**
 * @typedef {object} Checked
 * @property {string} name
 * @property {number} size of the tarball, bytes
 * @property {number} unpacked bytes
 * @property {number} files
 * @property {string | undefined} glibc the newest version that an addon asks for
 * @property {string[]} problems
 */

/** What a tarball may weigh, bytes. */
const limits = [
  { name: /^idlest$/, bytes: 400_000 },
  { name: /^@idlest\/binding-/, bytes: 1_500_000 },
  { name: /^@idlest\/pages$/, bytes: 300_000 },
]

/** What no user needs. */
const unwanted = [
  /\.map$/,
  /(^|\/)\.[^/]+$/,
  /(^|\/)(test|tests|bench|src|crates|node_modules)\//,
  /\.test\.[cm]?[jt]s$/,
  /(?<!\.d)\.[cm]?tsx?$/,
  /\.(rs|toml|log|tgz|tsbuildinfo)$/,
  /(^|\/)binding\.gyp$/,
]

/** npm runs these where a package is installed. */
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']

/**
 * Unpacks a tarball and holds it against what a published package must be.
 * @param {import('./pack.mjs').Packed} packed
 * @param {{ glibc?: string | undefined }} [options] `glibc`: the newest version that an addon may ask for
 * @returns {Promise<Checked>}
 */
export async function guard({ name, file }, { glibc } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-guard-'))
  try {
    const { code, output } = await run('tar', ['-xzf', file, '-C', folder], { quiet: true })
    if (code !== 0) throw new Error(`${output}${file} can't be unpacked`)
    return await check(name, file, join(folder, 'package'), glibc)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} name
 * @param {string} file
 * @param {string} folder
 * @param {string | undefined} glibc
 * @returns {Promise<Checked>}
 */
async function check(name, file, folder, glibc) {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = filesUnder(folder, ['.']).map((path) => path.replace(/^\.\//, ''))
  const sizes = await Promise.all(files.map(async (path) => (await stat(join(folder, path))).size))
  const { size } = await stat(file)
  const problems = [
    ...sizeProblems(name, size),
    ...manifestProblems(name, manifest),
    ...files.filter((path) => unwanted.some((pattern) => pattern.test(path))).map((path) => `holds ${path}`),
    ...(await sourceMapReferences(folder, files)).map((path) => `${path} names a source map`),
    ...(await brokenReferences(folder, manifest, files)),
    ...(await typeProblems(file, files)),
  ]
  const addon = await addonProblems(folder, manifest, files, glibc)
  return {
    name,
    size,
    unpacked: sizes.reduce((sum, bytes) => sum + bytes, 0),
    files: files.length,
    glibc: addon.glibc,
    problems: [...problems, ...addon.problems],
  }
}

/**
 * @param {string} name
 * @param {number} size
 */
function sizeProblems(name, size) {
  return limits
    .filter((limit) => limit.name.test(name) && size > limit.bytes)
    .map(({ bytes }) => `weighs ${size} bytes: ${bytes} are allowed`)
}

/**
 * @param {string} name
 * @param {Record<string, any>} manifest
 */
function manifestProblems(name, manifest) {
  const problems = []
  if (manifest.name !== name) problems.push(`is named ${manifest.name}`)
  for (const field of ['devDependencies', 'private', 'napi', 'ava']) {
    if (manifest[field] !== undefined) problems.push(`its package.json has ${field}`)
  }
  for (const script of installScripts) {
    if (manifest.scripts?.[script] !== undefined)
      problems.push(`runs a script when it is installed: ${script}`)
  }
  for (const [other, range] of Object.entries(manifest.optionalDependencies ?? {})) {
    if (range !== manifest.version) problems.push(`depends on ${other} ${range}, not on ${manifest.version}`)
  }
  return problems
}

/**
 * @param {string} folder
 * @param {string[]} files
 */
async function sourceMapReferences(folder, files) {
  const texts = files.filter((path) => /\.([cm]?[jt]s|css)$/.test(path))
  const found = await Promise.all(
    texts.map(async (path) =>
      (await readFile(join(folder, path), 'utf8')).includes('sourceMappingURL=') ? [path] : [],
    ),
  )
  return found.flat()
}

/**
 * @param {string} folder
 * @param {Record<string, any>} manifest
 * @param {string[]} files
 * @param {string | undefined} most
 */
async function addonProblems(folder, manifest, files, most) {
  const addons = files.filter((path) => path.endsWith('.node'))
  const [addon] = addons
  if (manifest.os === undefined) {
    return { glibc: undefined, problems: addons.map((path) => `holds ${path}, and says no os`) }
  }
  if (addon === undefined || addons.length > 1) {
    return { glibc: undefined, problems: [`holds ${addons.length} addons: one is expected`] }
  }
  const { platform, arch, glibc } = addonFacts(await readFile(join(folder, addon)))
  const linked = platform === 'linux' ? await linkProblems(join(folder, addon)) : []
  const problems = linked.map((problem) => `${addon} ${problem}`)
  if (!manifest.os.includes(platform) || !manifest.cpu.includes(arch)) {
    problems.push(`${addon} is for ${platform} ${arch}, the package for ${manifest.os} ${manifest.cpu}`)
  }
  if (platform === 'linux' && manifest.libc?.includes('glibc') !== (glibc !== undefined)) {
    problems.push(
      `${addon} ${glibc === undefined ? 'asks for no glibc' : `asks for glibc ${glibc}`}, the package for ${manifest.libc}`,
    )
  }
  if (most !== undefined && glibc !== undefined && older(most, glibc)) {
    problems.push(`${addon} asks for glibc ${glibc}: ${most} is the newest allowed`)
  }
  return { glibc, problems }
}
