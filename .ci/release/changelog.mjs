/**
 * @typedef {object} Section
 * @property {string} title such as `Unreleased` or `1.2.0`
 * @property {string | undefined} date such as `2026-12-24`
 * @property {string} body without its heading
 */

/**
 * The sections of a changelog, newest first: a heading `## 1.2.0 (2026-12-24)` or `## Unreleased`, and what stands below.
 * @param {string} text
 * @returns {Section[]}
 */
export function sections(text) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const [, title = heading, date] = /^(\S+)(?: \((\d{4}-\d\d-\d\d)\))?\s*$/.exec(heading) ?? []
      return { title, date, body: lines.join('\n').trim() }
    })
}

/**
 * The text of a release: what its section of the changelog says, each paragraph and item on one line, since a page of a
 * release breaks lines where the text does.
 * @param {string} body
 */
export function releaseNotes(body) {
  const lines = body.split('\n')
  /** @type {string[]} */
  const joined = []
  let code = false
  for (const line of lines) {
    if (line.trimStart().startsWith('```')) code = !code
    const last = joined.at(-1)
    const goesOn = !code && last !== undefined && last !== '' && !/^#|^```/.test(last)
    if (goesOn && /^ *[^\s#`|>*+-]/.test(line) && !/^ *\d+\. /.test(line)) {
      joined[joined.length - 1] = `${last} ${line.trim()}`
    } else joined.push(line)
  }
  return `${joined.join('\n')}\n`
}
