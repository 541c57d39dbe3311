import * as v from 'valibot'

const expected = 'a number of milliseconds of at least 0'

/**
 * Oldest age of a fresh reading, ms; `Infinity` for "always". Ages are whole milliseconds, rounded up, so only its whole
 * part counts.
 */
export const ttlOption = v.optional(
  v.pipe(v.number(expected), v.minValue(0, expected), v.transform(Math.floor)),
  10_000,
)
