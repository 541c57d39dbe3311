import * as v from 'valibot'

const expected = 'a number of milliseconds of at least 0'

/**
 * Oldest age of a fresh reading, ms; `Infinity` for "always". Ages are whole milliseconds, rounded up, so that algorithms
 * keep its whole part.
 */
export const ttlOption = v.optional(v.pipe(v.number(expected), v.minValue(0, expected)), 10_000)
