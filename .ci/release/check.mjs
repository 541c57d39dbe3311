// `npm run release:check`: whether all that names the version agrees, and the report of the API is current.
//   --tag v1.2.0    whether this commit can be released under that tag (default: the v… tag of this commit, if any)
//   --on BRANCH     whether it is part of that branch
//   --notes FILE    writes the text of the release there
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.mjs'
import { npm, run } from '../process.mjs'
import { agreement } from './agreement.mjs'
import { releaseNotes } from './changelog.mjs'
import { releaseBefore, stepProblem } from './step.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values } = argumentsOf('release:check', {
  options: { tag: { type: 'string' }, on: { type: 'string' }, notes: { type: 'string' } },
})

async function tagOfCommit() {
  const { code, output } = await run('git', ['tag', '--points-at', 'HEAD', '--list', 'v[0-9]*'], {
    cwd: root,
    quiet: true,
  })
  return code === 0 ? output.trim().split('\n')[0] || undefined : undefined
}

/** @param {string} branch */
async function isOn(branch) {
  const { code } = await run('git', ['merge-base', '--is-ancestor', 'HEAD', branch], {
    cwd: root,
    quiet: true,
  })
  return code === 0
}

async function apiProblem() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  if (scripts.api === undefined) return 'there is no report of the API: no npm script `api`'
  const { code, output } = await npm(['run', '--silent', 'api'], { cwd: root, quiet: true })
  return code === 0 ? undefined : `${output}npm run api: the report of the API is not current`
}

const tag = values.tag ?? (await tagOfCommit())
const { version, notes, problems } = agreement(root, tag)
if (values.on !== undefined && !(await isOn(values.on))) problems.push(`this commit is not on ${values.on}`)
const api = await apiProblem()
if (api !== undefined) problems.push(api)
const before = tag === undefined ? undefined : await releaseBefore(root)
const step = before === undefined ? undefined : await stepProblem(root, before, version)
if (step !== undefined) problems.push(step)
if (values.notes !== undefined) {
  if (notes) writeFileSync(values.notes, releaseNotes(notes))
  else problems.push(`no text for ${values.notes}: CHANGELOG.md has nothing under "## ${version}"`)
}
if (process.env.GITHUB_OUTPUT) appendFileSync(process.env.GITHUB_OUTPUT, `version=${version}\n`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`${version}${tag === undefined ? ', without a tag' : `, ${tag}`}: all agree`)
