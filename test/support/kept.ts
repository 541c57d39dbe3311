import { shown } from '../../dist/errors.js'

/** What an error keeps of a value: of an object or a function only words. */
export function kept(value: unknown): unknown {
  return Object(value) === value ? shown(value) : value
}
