import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder } from '../stamp.mjs'
import { complaints, targetComplaints } from './rules.mjs'

/**
 * The workflows of a clone, and the actions that they use of it.
 * @param {string} root
 * @returns {{ workflows: string[], actions: string[] }} relative to root
 */
export function workflowFiles(root) {
  const yaml = (/** @type {string} */ folder) =>
    filesUnder(root, [folder]).filter((file) => /\.ya?ml$/.test(file))
  return { workflows: yaml('.github/workflows'), actions: yaml('.github/actions') }
}

/**
 * Holds all workflows against the rules of this repository.
 * @param {string} root
 * @returns {string[]}
 */
export function checkWorkflows(root) {
  /** @param {string} file */
  const read = (file) => readFileSync(join(root, file), 'utf8')
  const { scripts, napi } = JSON.parse(read('package.json'))
  const facts = { scripts: Object.keys(scripts), targets: napi.targets }
  const { workflows, actions } = workflowFiles(root)
  return [...workflows, ...actions].flatMap((file) => {
    const text = read(file)
    const release = file.endsWith('/release.yml') ? targetComplaints(text, facts) : []
    return [...complaints(text, facts), ...release].map((complaint) => `${file}: ${complaint}`)
  })
}
