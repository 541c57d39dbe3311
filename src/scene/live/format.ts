import { count } from '../../format.js'

const threeDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
const oneDecimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** What stands for what is not known. */
export const NOTHING = '–'

/** Three digits, or more where they stand before the point. */
export function short(value: number | undefined): string {
  if (value === undefined) return NOTHING
  return value >= 1_000 ? count(value) : threeDigits.format(value)
}

/** Percent, of percent. */
export function percent(value: number | undefined): string {
  return value === undefined ? NOTHING : `${oneDecimal.format(value)} %`
}

/** Percent, of a share from 0 to 1. */
export function shareText(share: number | undefined): string {
  if (share === undefined) return NOTHING
  return share > 0 && share < 0.001 ? '< 0.1 %' : percent(share * 100)
}

/** A duration, of milliseconds. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return NOTHING
  if (ms < 1_000) return `${count(ms)} ms`
  if (ms < 100_000) return `${oneDecimal.format(ms / 1_000)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}
