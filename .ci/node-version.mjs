/**
 * Says what is wrong with a Node version for an `engines.node` of the form `>=20.19`.
 * @param {string} version as in `process.versions.node`
 * @param {string} engines
 * @returns {string | undefined}
 */
export function nodeComplaint(version, engines) {
  const least = engines.replace('>=', '').trim()
  if (!older(version, least)) return undefined
  return `idlest needs Node ${least} or later, but this is Node ${version}. Get one from https://nodejs.org and run this again.`
}

/**
 * Whether a dotted version is older than another; parts that the other leaves out don't count.
 * @param {string} version
 * @param {string} than
 */
export function older(version, than) {
  const [a, b] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)))
  for (const [i, least] of (b ?? []).entries()) {
    const part = a?.[i] ?? 0
    if (part !== least) return part < least
  }
  return false
}
