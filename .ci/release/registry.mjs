import { npm } from '../process.mjs'

/** @typedef {{ value?: string | undefined, error?: string }} Answer `value` is undefined where there is no such thing */
/** @typedef {(what: string, field: string) => Promise<Answer>} Ask */

/**
 * @param {string | undefined} url default: what npm is set to
 * @returns {Ask} asks the registry for a field of a package or of a version
 */
export function registry(url) {
  return async (what, field) => {
    const { code, output } = await npm(
      ['view', what, field, '--json', '--prefer-online', '--loglevel=silent', ...registryOption(url)],
      { quiet: true },
    )
    const text = output.trim()
    if (text === '') return code === 0 ? {} : { error: `npm view ${what} failed with ${code}` }
    const answer = parsed(text)
    if (code === 0) return typeof answer === 'string' ? { value: answer } : {}
    if (answer?.error?.code === 'E404') return {}
    return { error: `${text}\nnpm view ${what} failed` }
  }
}

/** @param {string | undefined} url */
export function registryOption(url) {
  return url === undefined ? [] : ['--registry', url]
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
