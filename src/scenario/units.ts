import * as v from 'valibot'

const UNITS: Readonly<Record<string, number>> = {
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
}

// A number with a unit behind it, such as `1.5 s` or `70%`.
function withUnit(text: string): { readonly value: number; readonly unit: string } | undefined {
  const parts = /^(\d+(?:\.\d+)?) ?([a-zµ%]*)$/.exec(text.trim())
  return parts === null ? undefined : { value: Number(parts[1]), unit: parts[2] ?? '' }
}

function toMilliseconds(value: unknown): number {
  if (typeof value === 'number') return value
  const parts = typeof value === 'string' ? withUnit(value) : undefined
  const unit = parts && (parts.unit === '' ? 1 : UNITS[parts.unit])
  return parts === undefined || unit === undefined ? Number.NaN : parts.value * unit
}

function toPercent(value: unknown): number {
  if (typeof value === 'number') return value
  const parts = typeof value === 'string' ? withUnit(value) : undefined
  return parts === undefined || (parts.unit !== '%' && parts.unit !== '') ? Number.NaN : parts.value
}

function quantity(read: (value: unknown) => number, min: number, max: number, expected: string) {
  return v.pipe(
    v.custom<number | string>((value) => {
      const number = read(value)
      return Number.isFinite(number) && number >= min && number <= max
    }, expected),
    v.transform((value) => read(value)),
  )
}

/** A time: a number of ms, or text with a unit: `250ms`, `5s`, `2min`, `1h`. Gives ms. */
export function duration(min: number, max = Number.POSITIVE_INFINITY) {
  const range = max === Number.POSITIVE_INFINITY ? `of at least ${min} ms` : `from ${min} ms to ${shown(max)}`
  return quantity(
    toMilliseconds,
    min,
    max,
    `a time ${range}, in ms or with a unit, such as 250ms, 5s or 2min`,
  )
}

function shown(ms: number): string {
  return ms >= 86_400_000 ? `${Math.floor(ms / 86_400_000)} days` : `${ms} ms`
}

/** A percentage: a number, or text such as `70%`. */
export function percent(min: number, max: number) {
  return quantity(toPercent, min, max, `a percentage from ${min} to ${max}, such as ${max > 50 ? 50 : min}%`)
}
