/** A number as it was given; of one that was worked out, no more than four decimals. */
export function plain(value: number): string {
  if (Math.abs(value) >= 1e15) return String(value)
  // A share close to 1 is another than 1.
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 1 ? 20 : 4 })
}

/** A number within a formula: close enough that what the formula shows is what it gives. */
export function inFormula(value: number): string {
  if (Math.abs(value) >= 1e15) return value.toPrecision(5)
  if (Math.abs(value) >= 1_000) return value.toLocaleString('en-US', { maximumFractionDigits: 1 })
  return value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
}

/** A result: whole from 100 on, below that three digits. */
export function rounded(value: number): string {
  if (Math.abs(value) >= 1e15) return value.toPrecision(4)
  if (Math.abs(value) >= 100) return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}

/** A share in percent. What is close to 100 % is not rounded to it: on which side it is, is the point. */
export function percent(share: number): string {
  const value = share * 100
  if (Math.abs(value) < 10) return `${rounded(value)} %`
  const text = rounded(Math.round(value))
  return `${text === '100' && value !== 100 ? value.toLocaleString('en-US', { maximumSignificantDigits: 5 }) : text} %`
}
