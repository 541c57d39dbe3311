import { spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

const windows = process.platform === 'win32'

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {Record<string, string>} [env] added to this process's own
 * @property {boolean} [quiet] keeps what the program prints, instead of showing it
 * @property {(line: string) => void} [onLine] takes standard output line by line, instead of showing it
 * @property {boolean} [shell]
 */

/**
 * Runs a program to its end. One that can't be started counts as having ended with 127.
 * @param {string} file
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(file, args, { cwd, env, quiet = false, onLine, shell = false } = {}) {
  const child = spawn(file, args, {
    cwd,
    shell,
    env: { ...process.env, ...env },
    stdio: ['ignore', quiet || onLine ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  })
  let output = ''
  if (quiet) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
  } else if (onLine && child.stdout) {
    createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine)
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/**
 * Runs npm.
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export function npm(args, options) {
  const [file, ...before] = npmCommand()
  return run(file, [...before, ...args], { ...options, shell: windows && file === 'npm' })
}

/**
 * The npm that runs this script, if any, since that needs no shell on Windows; else the one on the PATH.
 * @returns {[string, ...string[]]}
 */
export function npmCommand() {
  const cli = process.env.npm_execpath
  return cli && basename(cli) === 'npm-cli.js' ? [process.execPath, cli] : ['npm']
}

/**
 * The arguments that make `node` run a command of an installed package.
 * @param {string} root
 * @param {string} name of the package
 * @param {string} command
 */
export function bin(root, name, command) {
  const folder = join(root, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[command])
}

/**
 * @param {string} program
 * @returns {boolean}
 */
export function onPath(program) {
  const suffixes = windows ? (process.env.PATHEXT ?? '.EXE').split(';') : ['']
  return (process.env.PATH ?? '').split(delimiter).some((folder) =>
    suffixes.some((suffix) => {
      try {
        accessSync(join(folder || '.', program + suffix), constants.X_OK)
        return true
      } catch {
        return false
      }
    }),
  )
}
