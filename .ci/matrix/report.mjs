/**
 * One runtime's line of the result.
 * @typedef {Pick<import('./runtimes.mjs').Runtime, 'name' | 'kind' | 'version' | 'engine' | 'addon'>
 *   & import('./suite.mjs').Outcome & { part: string, seconds: number }} Tested
 * @typedef {{ name: string, absent: string }} Absent
 * @typedef {Tested | Absent} Row
 */

const titles = { node: 'Node.js', bun: 'Bun', deno: 'Deno' }

/**
 * What is said of a runtime when its tests have run; the last line is `node 22.23.5: N passed, N failed`.
 * @param {Tested} row
 */
export function closingLines({ kind, version, passed, failed, skipped, known, again, faults }) {
  return [
    ...faults.map(({ file, title, what }) => `failed: ${[file, title, what].filter(Boolean).join(' › ')}`),
    ...again.map((file) => `passed at second try, alone: ${file}`),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(known > 0 ? [`${known} known not to pass on ${titles[kind]}: see .ci/matrix/acceptance.mjs`] : []),
    `${kind} ${version}: ${passed} passed, ${failed} failed`,
  ].join('\n')
}

/**
 * The table for people, in Markdown.
 * @param {Row[]} rows
 */
export function markdown(rows) {
  return [
    '| runtime | picks by | the addon | tests | passed | failed | known not to pass | at second try |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) =>
      'absent' in row
        ? `| ${row.name} | - | - | none: ${row.absent} | | | | |`
        : `| ${titles[row.kind]} ${row.version} | ${[
            row.engine,
            row.addon,
            row.part,
            grouped(row.passed),
            row.failed,
            row.known,
            row.again.length,
          ].join(' | ')} |`,
    ),
  ].join('\n')
}

/** @param {number} count */
function grouped(count) {
  return count.toLocaleString('en-US')
}
