const BARS = '▁▂▃▄▅▆▇█'

const compactFormat = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** A count or rate in at most five cells or so, such as 7, 0.25 or 12.3K; nothing where it is not known. */
export function compact(value: number | undefined): string {
  return value === undefined ? '' : compactFormat.format(value)
}

/** A time in at most five cells or so, such as 0.4s, 12s, 3m, 5h or 40d. */
export function time(ms: number | undefined): string {
  if (ms === undefined) return ''
  const seconds = ms / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`
  if (seconds < 99.5) return `${seconds.toFixed(0)}s`
  const minutes = seconds / 60
  if (minutes < 99.5) return `${minutes.toFixed(0)}m`
  const hours = minutes / 60
  return hours < 99.5 ? `${hours.toFixed(0)}h` : `${(hours / 24).toFixed(0)}d`
}

/** A response time, ms, in at most six cells. */
export function latency(ms: number | undefined): string {
  if (ms === undefined) return ''
  return ms < 999.5 ? `${ms < 9.95 ? ms.toFixed(1) : ms.toFixed(0)}ms` : time(ms)
}

/** A part, 0-1, in percent without the sign: of thousands of nodes each has little. */
export function part(value: number | undefined): string {
  if (value === undefined) return ''
  const percent = value * 100
  if (percent === 0 || percent >= 99.95) return percent.toFixed(0)
  if (percent < 0.005) return '<.01'
  return percent.toFixed(percent < 0.95 ? 2 : 1)
}

/**
 * Values as a line of bars, the last ones where there are more than cells; a dot for one that is not known.
 * @param top what fills a cell
 */
export function sparkline(values: readonly (number | undefined)[], cells: number, top: number): string {
  const shown = cells <= 0 ? [] : values.slice(-cells)
  const bars = shown.map((value) => {
    if (value === undefined) return '·'
    const height = top > 0 ? Math.min(1, Math.max(0, value / top)) : 0
    return BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? ''
  })
  return bars.join('').padStart(Math.max(0, cells))
}
