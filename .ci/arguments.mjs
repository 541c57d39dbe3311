import { parseArgs } from 'node:util'

/**
 * The arguments of an npm script of this repository, as `parseArgs` has them. Where there is one that it does not take,
 * tells which it does, and ends the process with 1.
 * @template {import('node:util').ParseArgsConfig} T
 * @param {string} script its name
 * @param {T} config
 * @returns {ReturnType<typeof parseArgs<T>>}
 */
export function argumentsOf(script, config) {
  try {
    return parseArgs(config)
  } catch (error) {
    if (!isOfArguments(error)) throw error
    return stop(`npm run ${script}: ${error.message.split('. ', 1)[0]}. ${takes(config)}`)
  }
}

/**
 * Ends the process with 1, for want of right arguments.
 * @param {string} why
 * @returns {never}
 */
export function stop(why) {
  console.error(why)
  process.exit(1)
}

/**
 * @param {unknown} error
 * @returns {error is Error}
 */
function isOfArguments(error) {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
}

/** @param {import('node:util').ParseArgsConfig} config */
function takes({ options = {}, allowPositionals = false }) {
  const names = Object.entries(options).map(
    ([name, { type }]) => `--${name}${type === 'string' ? ' VALUE' : ''}`,
  )
  if (names.length === 0 && !allowPositionals) return 'It takes no arguments.'
  return `It takes ${[...names, ...(allowPositionals ? ['others without dashes'] : [])].join(', ')}, after --.`
}
