import { BadReportError } from '../errors.js'
import { hasFields } from '../fields.js'

/**
 * The largest value that a report's own fields take, in the field's unit. No load comes near it: above it, as with
 * 1e308, a counter or a division at the node is broken, and its report is refused rather than read as "full".
 */
export const MAX_VALUE = 1e12

/** Gives back a load, rate, count or time: finite, 0 to `max`; -0 comes back as 0. */
export function amount(field: string, value: unknown, max = MAX_VALUE): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= max)) {
    throw new BadReportError(field, value, `a finite number from 0 to ${max}`)
  }
  return value + 0
}

/** Gives back any finite number: what a metric of the user's own may be; -0 comes back as 0. */
export function finite(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new BadReportError(field, value, 'a finite number')
  }
  return value + 0
}

/** Gives back an object whose fields can be walked: no list, no promise. */
export function record(field: string, value: unknown, expected: string): Record<string, unknown> {
  if (!hasFields(value)) throw new BadReportError(field, value, expected)
  return value
}

// Nothing in it can be matched in two ways: a long text that is no number fails in linear time.
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The number that a text is in decimal notation, or undefined: Number() would take hexadecimal and the empty text too. */
export function decimal(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined
}
