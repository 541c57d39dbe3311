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
