import * as v from 'valibot'

/** Age up to which a reading is fresh by default, and where an algorithm reads none and has no say in it, ms. */
export const DEFAULT_TTL = 10_000

const expected = 'a number of milliseconds of at least 0'

/**
 * Oldest age of a fresh reading, ms; `Infinity` for "always". Ages are whole milliseconds, rounded up, so only its whole
 * part counts. Default `DEFAULT_TTL`.
 */
export const ttlOption = v.optional(
  v.pipe(v.number(expected), v.minValue(0, expected), v.transform(Math.floor)),
  DEFAULT_TTL,
)
