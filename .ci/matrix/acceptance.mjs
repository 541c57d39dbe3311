/** @typedef {import('./runtimes.mjs').Runtime['kind']} Kind */

/** What Bun and Deno have to pass: what a program that picks runs through. Patterns for ava. */
export const acceptance = [
  'test/*.test.ts',
  ...['algorithms', 'balancer', 'engine', 'keys', 'meter', 'reports', 'table'].map((it) => `test/${it}/**`),
  ...['agent', 'discovery', 'poller', 'integrations'].map((it) => `test/${it}/**`),
]

/**
 * Tests of the acceptance part that a runtime is known not to pass, each with why. They run all the same, and are
 * counted by themselves.
 * @type {{ kind: Kind, file: string, title?: string, why: string }[]} without a title: the whole file
 */
export const known = []

/**
 * @param {Kind} kind
 * @param {{ file: string, title?: string | undefined }} fault
 * @param {typeof known} among
 */
export function isKnown(kind, fault, among = known) {
  return among.some(
    (it) =>
      it.kind === kind &&
      it.file === fault.file &&
      (it.title === undefined || (fault.title ?? '').endsWith(it.title)),
  )
}

/**
 * The tests that are said not to pass, and did.
 * @param {Kind} kind
 * @param {Pick<import('./suite.mjs').Outcome, 'files' | 'known'>} outcome
 * @param {typeof known} among
 */
export function stale(kind, { files, known: failed }, among = known) {
  return among
    .filter((it) => it.kind === kind && files.includes(it.file))
    .filter((it) => !failed.some((fault) => isKnown(kind, fault, [it])))
    .map(({ file, title }) => [file, title].filter(Boolean).join(' › '))
}
