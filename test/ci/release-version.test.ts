import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { run } from '../../.ci/process.mjs'
import { agreement } from '../../.ci/release/agreement.mjs'
import { releaseNotes, sections } from '../../.ci/release/changelog.mjs'
import { isEnough, releaseBefore, stepOf } from '../../.ci/release/step.mjs'
import { distTag, parseVersion } from '../../.ci/release/version.mjs'
import { temporaryFolder } from './folder.js'

const repository = join(fileURLToPath(import.meta.url), '../../..')

const changelog = `# Changelog
All notable changes.

## 1.2.0 (2026-12-24)
### Added
- \`select\`, which picks
  the idlest.

## 1.1.0 (2026-11-01)
The first.
`

function clone(t: ExecutionContext, files: Record<string, string> = {}): string {
  const version = '1.2.0'
  return temporaryFolder(t, {
    'package.json': JSON.stringify({ version }),
    'package-lock.json': JSON.stringify({ version, packages: { '': { version } } }),
    'Cargo.toml': `[workspace]\nmembers = []\n\n[workspace.package]\nversion = "${version}"\nedition = "2024"\n`,
    'Cargo.lock': `[[package]]\nname = "idlest-core"\nversion = "${version}"\n\n[[package]]\nname = "libc"\nversion = "0.2"\n`,
    'src/version.ts': `export const VERSION = '${version}'\n`,
    'CHANGELOG.md': changelog,
    ...files,
  })
}

test('this clone agrees about its version', (t) => {
  t.deepEqual(agreement(repository, undefined).problems, [])
})

test('a version that all name, with its section, can be released under its tag', (t) => {
  const { version, notes, problems } = agreement(clone(t), 'v1.2.0')
  t.deepEqual(problems, [])
  t.is(version, '1.2.0')
  t.regex(notes ?? '', /^### Added\n- `select`/)
})

test('each file that names another version is told', (t) => {
  const old = clone(t, {
    'package-lock.json': JSON.stringify({ version: '1.1.0', packages: {} }),
    'src/version.ts': "export const VERSION = '1.1.0'\n",
    'Cargo.toml': '[workspace.package]\nversion = "1.1.0"\n',
    'Cargo.lock': 'name = "idlest-node"\nversion = "1.0.0"\n',
  })
  t.deepEqual(agreement(old, undefined).problems, [
    'package-lock.json has 1.1.0, package.json 1.2.0',
    'package-lock.json, its root package has no version, package.json 1.2.0',
    'src/version.ts has 1.1.0, package.json 1.2.0',
    'Cargo.toml has 1.1.0, package.json 1.2.0',
    'Cargo.lock, idlest-node has 1.0.0, package.json 1.2.0',
  ])
})

test('another tag than the version is refused', (t) => {
  t.deepEqual(agreement(clone(t), 'v1.2.1').problems, ['the tag is v1.2.1, and package.json has 1.2.0'])
})

test('without a dated section of its own nothing is released, and nothing may be left unreleased', (t) => {
  const unreleased = clone(t, { 'CHANGELOG.md': '# Changelog\n## Unreleased\n- more\n' })
  t.deepEqual(agreement(unreleased, undefined).problems, [])
  t.is(agreement(unreleased, 'v1.2.0').problems.length, 2)
  const undated = clone(t, { 'CHANGELOG.md': '# Changelog\n## Unreleased\n\n## 1.2.0\n- more\n' })
  t.deepEqual(agreement(undated, 'v1.2.0').problems, ['CHANGELOG.md: "## 1.2.0" has no date: (yyyy-mm-dd)'])
})

test('the sections of the changelog are told apart', (t) => {
  t.deepEqual(
    sections(changelog).map(({ title, date }) => ({ title, date })),
    [
      { title: '1.2.0', date: '2026-12-24' },
      { title: '1.1.0', date: '2026-11-01' },
    ],
  )
  t.true(sections(readFileSync(join(repository, 'CHANGELOG.md'), 'utf8')).length > 0)
})

test('each paragraph and item of the notes is one line, and code stays as it is', (t) => {
  const body = 'First\nline.\n\n### Added\n- one\n  more\n- two\n\n```js\na\nb\n```\nEnd.'
  t.is(releaseNotes(body), 'First line.\n\n### Added\n- one more\n- two\n\n```js\na\nb\n```\nEnd.\n')
})

test('who asks for no version gets the newest release', (t) => {
  t.is(distTag('1.2.0', undefined), 'latest')
  t.is(distTag('1.2.0', '1.1.9'), 'latest')
  t.is(distTag('1.10.0', '1.9.0'), 'latest')
  t.is(distTag('1.2.0', '1.2.0-rc.1'), 'latest')
  t.is(distTag('2.0.0-rc.1', '1.2.0'), 'next')
  t.is(distTag('1.2.3', '2.0.0'), 'release-1.2')
})

test('what is no semantic version has no parts', (t) => {
  t.deepEqual(parseVersion('1.2.3-rc.1'), { numbers: [1, 2, 3], prerelease: 'rc.1' })
  for (const text of ['1.2', 'v1.2.3', '01.2.3', '1.2.3+build', '']) t.is(parseVersion(text), undefined, text)
})

test('the step of a version is the first part that goes up', (t) => {
  t.is(stepOf('1.2.3', '2.0.0'), 'major')
  t.is(stepOf('1.2.3', '1.3.0-rc.1'), 'minor')
  t.is(stepOf('1.2.3', '1.2.4'), 'patch')
  for (const [before, after] of [
    ['1.2.3', '1.2.3'],
    ['1.2.3', '1.1.9'],
    ['1.2.3', '1.2.2'],
  ] as const)
    t.is(stepOf(before, after), undefined, after)
})

test('a larger step than the API asks for is enough, a smaller one is not', (t) => {
  t.true(isEnough('major', 'minor'))
  t.true(isEnough('minor', 'minor'))
  t.false(isEnough('patch', 'minor'))
  t.false(isEnough(undefined, 'patch'))
})

test('the release before is the last tag of a release, not of a prerelease', async (t) => {
  const root = temporaryFolder(t)
  const git = async (...args: string[]) => {
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'tag.gpgsign=false']
    const { code, output } = await run('git', [...author, ...args], { cwd: root, quiet: true })
    t.is(code, 0, output)
  }
  const commit = (message: string) =>
    git('commit', '--quiet', '--no-gpg-sign', '--allow-empty', '-m', message)
  await git('init', '--quiet')
  await commit('one')
  t.is(await releaseBefore(root), undefined)
  await git('tag', 'v1.0.0')
  await commit('two')
  await git('tag', 'v1.1.0-rc.1')
  await commit('three')
  await git('tag', 'v1.1.0')
  t.is(await releaseBefore(root), '1.0.0')
})
