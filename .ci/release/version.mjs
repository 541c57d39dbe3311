/**
 * Parts of a semantic version.
 * @param {string} version
 * @returns {{ numbers: [number, number, number], prerelease: string } | undefined} undefined where it is none
 */
export function parseVersion(version) {
  const parts = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\dA-Za-z.-]+))?$/.exec(version)
  if (parts === null) return undefined
  const [major = 0, minor = 0, patch = 0] = parts.slice(1, 4).map(Number)
  return { numbers: [major, minor, patch], prerelease: parts[4] ?? '' }
}

/**
 * The tag of npm that a version is published under: who asks for no version gets `latest`, so it stands for the newest
 * release alone. A prerelease is `next`, and a release that is older than the newest one `release-1.2`.
 * @param {string} version
 * @param {string | undefined} latest the version that is `latest` now; undefined where none is published
 */
export function distTag(version, latest) {
  const own = parseVersion(version)
  if (own === undefined) throw new Error(`${version} is no version`)
  if (own.prerelease !== '') return 'next'
  const newest = latest === undefined ? undefined : parseVersion(latest)
  if (newest === undefined) return 'latest'
  const differs = own.numbers.findIndex((number, at) => number !== newest.numbers[at])
  const older = differs >= 0 && (own.numbers[differs] ?? 0) < (newest.numbers[differs] ?? 0)
  return older ? `release-${own.numbers[0]}.${own.numbers[1]}` : 'latest'
}
