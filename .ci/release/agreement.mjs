import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sections } from './changelog.mjs'
import { parseVersion } from './version.mjs'

/**
 * What does not agree about the version, in the files that name it; with a tag also whether they are ready to be
 * published under it.
 * @param {string} root
 * @param {string | undefined} tag of git, such as `v1.2.0`
 * @returns {{ version: string, notes: string | undefined, problems: string[] }} `notes`: the changelog's section
 */
export function agreement(root, tag) {
  /** @param {string} file */
  const read = (file) => readFileSync(join(root, file), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  const lock = JSON.parse(read('package-lock.json'))
  const problems = []
  if (parseVersion(version) === undefined) problems.push(`package.json: ${version} is no semantic version`)
  for (const [where, found] of [
    ['package-lock.json', lock.version],
    ['package-lock.json, its root package', lock.packages['']?.version],
    ['src/version.ts', /VERSION = '(.+)'/.exec(read('src/version.ts'))?.[1]],
    ['Cargo.toml', workspaceVersion(read('Cargo.toml'))],
    ...crateVersions(read('Cargo.lock')),
  ]) {
    if (found !== version) problems.push(`${where} has ${found ?? 'no version'}, package.json ${version}`)
  }
  const changes = sections(read('CHANGELOG.md'))
  const own = changes.find(({ title }) => title === version)
  const unreleased = changes.find(({ title }) => title === 'Unreleased')
  if (tag === undefined) {
    if (!(own ?? unreleased)?.body)
      problems.push(`CHANGELOG.md says nothing under "## Unreleased" or "## ${version}"`)
    return { version, notes: own?.body, problems }
  }
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, and package.json has ${version}`)
  if (!own?.body) problems.push(`CHANGELOG.md has no "## ${version} (yyyy-mm-dd)" with text below it`)
  else if (own.date === undefined) problems.push(`CHANGELOG.md: "## ${version}" has no date: (yyyy-mm-dd)`)
  if (unreleased?.body) problems.push(`CHANGELOG.md still has changes under "## Unreleased"`)
  return { version, notes: own?.body, problems }
}

/** @param {string} cargo */
function workspaceVersion(cargo) {
  return /^\[workspace\.package\]\n(?:(?!\[).*\n)*?version = "(.+)"/m.exec(cargo)?.[1]
}

/**
 * @param {string} lock
 * @returns {[string, string | undefined][]}
 */
function crateVersions(lock) {
  return [...lock.matchAll(/^name = "(idlest-\w+)"\nversion = "(.+)"/gm)].map(([, name, version]) => [
    `Cargo.lock, ${name}`,
    version,
  ])
}
