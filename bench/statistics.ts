/** The value below which a share of the values lies, by linear interpolation. NaN where there is none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  if (sorted.length === 0) return Number.NaN
  const place = share * (sorted.length - 1)
  const low = sorted[Math.floor(place)] as number
  const high = sorted[Math.ceil(place)] as number
  return low + (high - low) * (place - Math.floor(place))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The middle of some values, and where eight of ten of them lie. */
export interface Spread {
  readonly median: number
  readonly p10: number
  readonly p90: number
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), p10: quantile(values, 0.1), p90: quantile(values, 0.9) }
}

/** What was found, and an interval that has what is true in it 19 times of 20. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

// Student's t for 95 %, by degrees of freedom from 1 on.
const T95 = [
  12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045,
]
const T95_OF_MANY = 1.96

/**
 * The mean of what independent runs found, with its confidence interval by Student's t.
 * @param values one of each run; of a single one nothing is known of how far off it is
 */
export function estimateOf(values: readonly number[]): Estimate {
  const count = values.length
  const value = values.reduce((sum, one) => sum + one, 0) / count
  const squares = values.reduce((sum, one) => sum + (one - value) ** 2, 0)
  const error = Math.sqrt(squares / (count - 1) / count)
  const margin = count < 2 ? Number.POSITIVE_INFINITY : error * (T95[count - 2] ?? T95_OF_MANY)
  return { value, low: value - margin, high: value + margin }
}

/** The mean without so large a share of the values at each end: outliers of a machine that others use don't count. */
export function trimmedMean(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const cut = Math.floor(sorted.length * share)
  const kept = sorted.slice(cut, sorted.length - cut)
  return kept.reduce((sum, one) => sum + one, 0) / kept.length
}
