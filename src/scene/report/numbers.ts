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

/** A unit that a whole axis of times is in, so that its steps are round. */
interface TimeUnit {
  readonly name: string
  readonly ms: number
}

const UNITS: readonly (TimeUnit & { readonly upTo: number })[] = [
  { name: 'ms', ms: 1, upTo: 2_000 },
  { name: 's', ms: 1_000, upTo: 600_000 },
  { name: 'min', ms: 60_000, upTo: 36_000_000 },
  { name: 'h', ms: 3_600_000, upTo: Number.POSITIVE_INFINITY },
]

/** The unit for times up to `longest` ms. */
export function unitFor(longest: number): TimeUnit {
  return UNITS.find(({ upTo }) => longest < upTo) ?? { name: 'h', ms: 3_600_000 }
}
