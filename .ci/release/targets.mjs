import { older } from '../node-version.mjs'

/** The newest glibc that an addon may ask for: older than any that Node 20 starts on. */
const GLIBC = '2.17'

/**
 * How the addon of a target is built, so that it runs on the oldest system that Node itself runs on.
 * @typedef {object} Recipe
 * @property {string[]} options of `napi build`
 * @property {Record<string, string>} env
 */

/**
 * @param {string} target
 * @returns {Recipe}
 */
export function recipe(target) {
  // Zig links for every processor, with musl or with the glibc that is asked for. napi-rs' own toolchain for glibc, which
  // comes from npm as the build runs, is in no lock file.
  if (target.endsWith('-linux-gnu'))
    return { options: ['--target', `${target}.${GLIBC}`, '--cross-compile'], env: {} }
  if (target.endsWith('-linux-musl')) return { options: ['--target', target, '--cross-compile'], env: {} }
  // Node has its own copy of Microsoft's runtime inside, so a machine may have no other.
  const flags = target.endsWith('-windows-msvc') ? '-C target-feature=+crt-static' : ''
  const name = `CARGO_TARGET_${target.toUpperCase().replaceAll('-', '_')}_RUSTFLAGS`
  return { options: ['--target', target], env: flags === '' ? {} : { [name]: flags } }
}

/**
 * What an addon for a target says of itself.
 * @param {string} target
 * @returns {{ platform: string, arch: string, name: string }} `name`: of the build, such as `linux-x64-gnu`
 */
export function factsOf(target) {
  const arch = target.startsWith('aarch64-') ? 'arm64' : 'x64'
  if (target.endsWith('-apple-darwin')) return { platform: 'darwin', arch, name: `darwin-${arch}` }
  if (target.endsWith('-windows-msvc')) return { platform: 'win32', arch, name: `win32-${arch}-msvc` }
  const libc = target.endsWith('-musl') ? 'musl' : 'gnu'
  return { platform: 'linux', arch, name: `linux-${arch}-${libc}` }
}

/**
 * What is wrong with an addon that was built for a target.
 * @param {string} target
 * @param {import('../package/addon.mjs').AddonFacts} found
 * @returns {string[]}
 */
export function misfits(target, found) {
  const wanted = factsOf(target)
  const problems = []
  if (found.platform !== wanted.platform || found.arch !== wanted.arch)
    problems.push(`is for ${found.platform} ${found.arch}, not for ${wanted.platform} ${wanted.arch}`)
  if (target.endsWith('-linux-gnu')) {
    if (found.glibc === undefined) problems.push('asks for no glibc')
    else if (older(GLIBC, found.glibc))
      problems.push(`asks for glibc ${found.glibc}: ${GLIBC} is the newest allowed`)
  } else if (found.glibc !== undefined) problems.push(`asks for glibc ${found.glibc}`)
  return problems
}
