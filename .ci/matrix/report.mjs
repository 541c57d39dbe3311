import { faultLine, tryLines } from '../tests/suite.mjs'

/** @typedef {import('../tests/suite.mjs').Outcome} Outcome */
/** @typedef {import('./runtimes.mjs').Runtime} Runtime */
/** @typedef {Omit<Runtime, 'path'> & Outcome & { part: string, seconds: number, stale: string[] }} Tested */
/** @typedef {{ name: string, absent: string }} Absent a runtime that can't be had here, and why */
/** @typedef {Tested | Absent} Row */

const titles = { node: 'Node.js', bun: 'Bun', deno: 'Deno' }

/**
 * What is said of a runtime when its tests have run; the last line is `node 22.23.5: N passed, N failed`.
 * @param {Tested} row
 */
export function closingLines({ kind, version, passed, failed, skipped, known, stale, again, faults }) {
  return [
    ...known.map((fault) => `known not to pass on ${titles[kind]}: ${faultLine(fault)}`),
    ...stale.map((test) => `passes, though it is said not to on ${titles[kind]}: ${test}`),
    ...tryLines({ again, faults }),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${kind} ${version}: ${passed} passed, ${failed} failed`,
  ].join('\n')
}

/**
 * The table for people, in Markdown.
 * @param {Row[]} rows
 */
export function markdown(rows) {
  return [
    '| runtime | engine by default | addon | tests | passed | failed | known not to pass | at second try |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) =>
      'absent' in row
        ? `| ${row.name} | - | - | none: ${row.absent} | - | - | - | - |`
        : `| ${[
            `${titles[row.kind]} ${row.version}`,
            row.engine,
            row.addon,
            row.part,
            row.passed.toLocaleString('en-US'),
            row.failed,
            row.known.length,
            row.again.length,
          ].join(' | ')} |`,
    ),
  ].join('\n')
}
