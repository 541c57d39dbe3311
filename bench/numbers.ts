import type { BarUnit } from './bars.js'
import type { Estimate, Spread } from './statistics.js'

export const BYTES_A_MIB = 2 ** 20

/** 3 digits that count, with separators: `4.56`, `12.3`, `1,234`. */
export function digits(value: number): string {
  const size = Math.abs(value)
  const fraction = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: fraction, maximumFractionDigits: fraction })
}

/** A whole number, with separators. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A bar's number as a person reads it. */
export function amount(value: number, unit: BarUnit): string {
  if (unit === 'part') return `1/${digits(1 / value)}`
  if (unit === 'collections') return `${value}`
  return unit === 'times' ? `${digits(value)} x` : `${digits(value)} ${unit}`
}

/** A median, and where eight of ten lie: `0.531 (0.512-0.566)`. */
export function spread({ median, p10, p90 }: Spread): string {
  return `${digits(median)} (${digits(p10)}-${digits(p90)})`
}

/** A value, and the interval that the true one is in 19 times of 20: `6.02 (4.91 to 7.13)`. */
export function estimate({ value, low, high }: Estimate): string {
  return `${digits(value)} (${digits(low)} to ${digits(high)})`
}
