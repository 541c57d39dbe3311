// Made once: each takes many times as long to make as to use.
const wholeNumbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** A latency or an age, ms, in three digits or so. */
export function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return '-'
  if (ms >= 9_995) return `${(ms / 1000).toFixed(1)} s`
  if (ms >= 999.5) return `${(ms / 1000).toFixed(2)} s`
  return `${ms.toFixed(ms < 9.95 ? 1 : 0)} ms`
}

/** A number of percent, without decimals. */
export function percent(value: number | undefined): string {
  return value === undefined ? '-' : `${value.toFixed(0)} %`
}

/** A whole number. */
export function count(value: number): string {
  return wholeNumbers.format(value)
}

/** A number with at most two decimals. */
export function decimal(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
