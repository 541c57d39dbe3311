import { known } from './known.mjs'

/** @typedef {import('./runtimes.mjs').Runtime['kind']} Kind */
/** @typedef {import('../tests/suite.mjs').Outcome} Outcome */

const folders = [
  ...['algorithms', 'balancer', 'engine', 'keys', 'meter', 'reports', 'table'],
  ...['metrics', 'opentelemetry', 'prometheus', 'undici'].map((name) => `integrations/${name}`),
]
const agent = [
  ...['agent', 'agent-check', 'meters', 'metrics', 'report-header', 'report-server', 'reporter'],
  ...['sampling', 'traffic'],
]
const poller = [
  ...['agent-check', 'back-off', 'cycle', 'edges', 'handles', 'http-headers', 'http-node', 'members'],
  ...['node-exporter', 'prober', 'reentrant', 'roster', 'round', 'silent-for', 'sink', 'targets'],
  ...['telemetry', 'transport', 'worker', 'worker-host', 'worker-probes'],
]

/**
 * What Bun and Deno have to pass, as patterns for ava: all that picks, by both engines where the addon loads; tables and
 * threads; the agent and the polling thread over plain HTTP; undici's dispatcher and telemetry. Not gRPC, NATS, TLS,
 * discovery, the command line and the simulations.
 */
export const acceptance = [
  'test/*.test.ts',
  'test/package/clone.test.ts',
  ...folders.map((name) => `test/${name}/**`),
  ...agent.map((name) => `test/agent/${name}.test.ts`),
  ...poller.map((name) => `test/poller/${name}.test.ts`),
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
