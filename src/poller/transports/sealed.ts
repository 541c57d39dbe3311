import { HIDDEN } from '../../errors.js'

// What is shown of a transport. Other settings may be secrets, or have some in them.
const OPEN: ReadonlySet<string> = new Set([
  'protocol',
  'host',
  'port',
  'path',
  'format',
  'metric',
  'weight',
  'initialWeight',
  'reportInterval',
  'servers',
  'subject',
  'silence',
])

/**
 * Makes a transport. Its settings can be read by name alone: copies, JSON, `console.log` and other inspection get at no
 * token and no key of it. They show the settings that are not secret, and `(hidden)` for the others.
 */
export function sealed<K extends string, S extends object>(
  kind: K,
  settings: S,
): { readonly kind: K; readonly settings: S } {
  const seen = () => ({ kind, ...shownOf(settings) })
  return Object.defineProperties({ kind } as { readonly kind: K; readonly settings: S }, {
    settings: { value: settings },
    toJSON: { value: seen },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: seen },
  })
}

function shownOf(settings: object): Record<string, unknown> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, OPEN.has(name) ? value : HIDDEN]))
}
