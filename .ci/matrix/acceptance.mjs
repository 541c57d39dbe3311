import { known } from './known.mjs'

/** @typedef {import('./runtimes.mjs').Runtime['kind']} Kind */
/** @typedef {import('./suite.mjs').Outcome} Outcome */

/** What Bun and Deno have to pass: what a program that picks runs through. Patterns for ava. */
export const acceptance = [
  'test/*.test.ts',
  ...['algorithms', 'balancer', 'engine', 'keys', 'meter', 'reports', 'table'].map((it) => `test/${it}/**`),
  ...['agent', 'discovery', 'poller', 'integrations'].map((it) => `test/${it}/**`),
]

/**
 * Whether a runtime is known not to pass a test.
 * @param {Kind} kind
 * @param {{ file: string, title?: string | undefined }} fault
 */
export function isKnown(kind, { file, title }, among = known) {
  return among.some((it) => it.kind === kind && it.file === file && it.title === title)
}

/**
 * The arguments of ava that leave out the tests that hang in a runtime.
 * @param {Kind} kind
 */
export function withoutHanging(kind, among = known) {
  return among.filter((it) => it.kind === kind && it.hangs).map(({ title }) => `--match=!${title}`)
}

/**
 * The tests that were left out, of the files that ran.
 * @param {Kind} kind
 * @param {string[]} files
 */
export function leftOut(kind, files, among = known) {
  return among
    .filter((it) => it.kind === kind && it.hangs && files.includes(it.file))
    .map(({ file, title }) => ({ file, title, what: 'left out, since it hangs' }))
}

/**
 * The tests that are said not to pass, and did.
 * @param {Kind} kind
 * @param {Pick<Outcome, 'files' | 'known'>} outcome
 */
export function stale(kind, { files, known: failed }, among = known) {
  return among
    .filter((it) => it.kind === kind && !it.hangs && files.includes(it.file))
    .filter((it) => !failed.some((fault) => isKnown(kind, fault, [it])))
    .map(({ file, title }) => `${file} › ${title}`)
}
