/** A time in ms for people: three digits, seconds from 1,000 ms on, minutes from 120 s on. */
export function timeText(ms: number | null): string {
  if (ms === null) return '–'
  if (ms === 0) return '0 ms'
  if (ms >= 120_000) return `${digits(ms / 60_000)} min`
  if (ms >= 1_000) return `${digits(ms / 1_000)} s`
  return ms < 1 ? `${digits(ms * 1_000)} µs` : `${digits(ms)} ms`
}

function digits(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en')
}

/** A share from 0 to 1 in percent. */
export function percentText(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`
}
