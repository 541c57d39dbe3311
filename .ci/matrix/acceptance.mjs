/** What Bun and Deno have to pass: what a program that picks runs through. Patterns for ava. */
export const acceptance = [
  'test/*.test.ts',
  ...['algorithms', 'balancer', 'engine', 'keys', 'meter', 'reports', 'table'].map((it) => `test/${it}/**`),
  ...['agent', 'poller', 'integrations/undici'].map((it) => `test/${it}/**`),
]

/**
 * @param {import('./runtimes.mjs').Runtime['kind']} _kind
 * @param {{ file: string, title?: string | undefined }} _fault
 * @returns {boolean}
 */
export function isKnown(_kind, _fault) {
  return false
}
