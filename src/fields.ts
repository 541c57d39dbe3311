/**
 * Whether a value is an object whose fields may be read one by one: a literal, an instance of a class. Lists, sets,
 * maps and promises have no fields of their own either, and would pass for an object that leaves all of them out.
 */
export function hasFields(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !(Symbol.iterator in value) && !('then' in value && typeof value.then === 'function')
}
