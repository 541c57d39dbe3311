import { older } from '../node-version.mjs'
import { onPath, run } from '../process.mjs'

/** @typedef {{ platform: string, arch: string, glibc?: string | undefined }} AddonFacts */

const ELF = { 62: 'x64', 183: 'arm64' }
const MACH_O = { 16777223: 'x64', 16777228: 'arm64' }
const PE = { 34404: 'x64', 43620: 'arm64' }

/**
 * What a library's own bytes say of the system that it is for.
 * @param {Buffer} bytes
 * @returns {AddonFacts} `glibc`: the newest version that one of its symbols asks for; undefined where none asks for any
 */
export function addonFacts(bytes) {
  if (bytes.length >= 64 && bytes.readUInt32BE(0) === 0x7f454c46) {
    return { platform: 'linux', arch: named(ELF, bytes.readUInt16LE(18)), glibc: newestGlibc(bytes) }
  }
  if (bytes.length >= 8 && bytes.readUInt32LE(0) === 0xfeedfacf) {
    return { platform: 'darwin', arch: named(MACH_O, bytes.readUInt32LE(4)) }
  }
  const header = bytes.length >= 64 && bytes.toString('latin1', 0, 2) === 'MZ' ? bytes.readUInt32LE(60) : -1
  if (header >= 0 && header + 6 <= bytes.length && bytes.readUInt32BE(header) === 0x50450000) {
    return { platform: 'win32', arch: named(PE, bytes.readUInt16LE(header + 4)) }
  }
  return { platform: 'unknown', arch: 'unknown' }
}

/**
 * @param {Record<number, string>} names
 * @param {number} machine
 */
function named(names, machine) {
  return names[machine] ?? `machine ${machine}`
}

/**
 * The versions stand as text in the table of names.
 * @param {Buffer} bytes
 */
function newestGlibc(bytes) {
  /** @type {string | undefined} */
  let newest
  for (const [, version = ''] of bytes.toString('latin1').matchAll(/GLIBC_(\d+(?:\.\d+)+)\0/g)) {
    if (newest === undefined || older(newest, version)) newest = version
  }
  return newest
}

/** What every Linux that Node.js runs on has: its C library, the parts that old ones came in, and what Node itself needs. */
const usual =
  /^(libc\.so(\.6)?|libc\.musl-\w+\.so\.1|lib(m|dl|pthread|rt)\.so\.\d|libgcc_s\.so\.1|ld-linux[\w-]*\.so\.\d)$/

/**
 * What is wrong with how a library for Linux is linked, as readelf tells: it needs another library, or could be unloaded
 * while threads that used it end. Nothing where there is no readelf.
 * @param {string} file
 * @returns {Promise<string[]>}
 */
export async function linkProblems(file) {
  if (!onPath('readelf')) return []
  const { output } = await run('readelf', ['-dW', file], { quiet: true, env: { LC_ALL: 'C' } })
  return problemsOf(output)
}

/** @param {string} dynamic what `readelf -d` prints */
export function problemsOf(dynamic) {
  const needed = [...dynamic.matchAll(/\(NEEDED\)\s+Shared library: \[(.+?)\]/g)].map(([, name = '']) => name)
  const problems = needed.filter((name) => !usual.test(name)).map((name) => `needs ${name}`)
  const stays = needed.includes('libc.so.6') ? /\(FLAGS_1\).*\bNODELETE\b/.test(dynamic) : true
  return stays ? problems : [...problems, 'can be unloaded: it is not linked with -z nodelete']
}
