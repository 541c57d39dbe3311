import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm, run } from '../process.mjs'
import { parseVersion } from './version.mjs'

const parts = ['major', 'minor', 'patch']

/**
 * The part of the version that steps from one release to another, or to its prerelease.
 * @param {string} before
 * @param {string} after
 * @returns {string | undefined} `major`, `minor` or `patch`; undefined where none goes up
 */
export function stepOf(before, after) {
  const [old, now] = [parseVersion(before), parseVersion(after)]
  if (old === undefined || now === undefined) return undefined
  const at = now.numbers.findIndex((number, part) => number !== old.numbers[part])
  return at >= 0 && (now.numbers[at] ?? 0) > (old.numbers[at] ?? 0) ? parts[at] : undefined
}

/**
 * Whether the step that was taken is as large as the one that is due.
 * @param {string | undefined} taken
 * @param {string} due
 */
export function isEnough(taken, due) {
  return taken !== undefined && parts.indexOf(taken) <= parts.indexOf(due)
}

/**
 * The release before this commit; undefined where there is none.
 * @param {string} root
 */
export async function releaseBefore(root) {
  const { code, output } = await run(
    'git',
    ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', '--exclude', '*-*', 'HEAD^'],
    { cwd: root, quiet: true },
  )
  return code === 0 ? output.trim().replace(/^v/, '') : undefined
}

/**
 * What speaks against a version, going by how the API has changed since the release before.
 * @param {string} root
 * @param {string} before
 * @param {string} version
 * @returns {Promise<string | undefined>}
 */
export async function stepProblem(root, before, version) {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-step-'))
  try {
    const archive = join(folder, 'api.tar')
    const api = '.github/api'
    const archived = await run('git', ['archive', '--output', archive, `v${before}`, api], {
      cwd: root,
      quiet: true,
    })
    if (archived.code !== 0) return `${archived.output}v${before} has no report of the API`
    mkdirSync(join(folder, 'before'))
    await run('tar', ['-xf', archive, '-C', join(folder, 'before')], { quiet: true })
    const { code, output } = await npm(
      ['run', '--silent', 'api', '--', '--against', join(folder, 'before', api), '--version', before],
      { cwd: root, quiet: true },
    )
    if (code !== 0) return `${output}npm run api failed`
    const due = output.trim().split('\n').at(-1) ?? ''
    if (isEnough(stepOf(before, version), due)) return undefined
    return `${output}after ${before}, ${version} is no ${due} step, which these changes of the API ask for`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
