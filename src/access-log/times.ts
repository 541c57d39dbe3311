// The forms in which access logs write a time. All give ms since 1970, or a word on what is wrong.

/** A time of a log, ms since 1970; or why it is none. */
export type LogTime = { readonly at: number } | { readonly wrong: string }

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The latest time that is believed: the end of 9999. */
const LATEST = Date.UTC(10_000, 0, 1) - 1

const OUT_OF_RANGE: LogTime = { wrong: 'its time is not between 1970 and 9999' }

// The parts of a time as text, by the names of the groups of the two expressions below.
type Parts = Readonly<Record<string, string | undefined>>

function timeOf(parts: Parts, month: number): LogTime {
  const [year, day, hour, minute, second, zoneHours, zoneMinutes] = [
    parts.year,
    parts.day,
    parts.hour,
    parts.minute,
    parts.second,
    parts.zoneHours,
    parts.zoneMinutes,
  ].map((digits) => Number(digits ?? 0)) as [number, number, number, number, number, number, number]
  // Before 100, Date.UTC would take a year for one of the 20th century.
  if (year < 1970) return OUT_OF_RANGE
  const date = new Date(Date.UTC(year, month, day))
  // It takes the 31st of February for the 3rd of March.
  if (date.getUTCDate() !== day || date.getUTCMonth() !== month) return { wrong: 'there is no such day' }
  // A leap second is written as second 60.
  if (hour > 23 || minute > 59 || second > 60) return { wrong: 'there is no such time of day' }
  if (zoneHours > 14 || zoneMinutes > 59) return { wrong: 'there is no such time zone' }
  const ahead = (parts.sign === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  const fraction = Number(`0.${parts.fraction ?? '0'}`)
  return bounded(date.getTime() + ((hour * 60 + minute - ahead) * 60 + second) * 1000 + fraction * 1000)
}

function bounded(at: number): LogTime {
  return at >= 0 && at <= LATEST ? { at } : OUT_OF_RANGE
}

const COMMON =
  /^(?<day>\d{2})\/(?<month>[A-Z][a-z]{2})\/(?<year>\d{4}):(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:\.(?<fraction>\d{1,9}))? (?<sign>[+-])(?<zoneHours>\d{2})(?<zoneMinutes>\d{2})$/

/** `10/Oct/2000:13:55:36 -0700`, also with a fraction of a second. */
export function commonTime(text: string): LogTime {
  const parts = COMMON.exec(text)?.groups
  if (parts === undefined) return { wrong: 'its time is not like 10/Oct/2000:13:55:36 -0700' }
  return timeOf(parts, MONTHS.indexOf(parts.month ?? ''))
}

const ISO =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})[T ](?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))? ?(?:[Zz]|(?<sign>[+-])(?<zoneHours>\d{2}):?(?<zoneMinutes>\d{2}))?$/

/** `2000-10-10T13:55:36.250-07:00`; UTC where there is no zone. */
function isoTime(text: string): LogTime | undefined {
  const parts = ISO.exec(text)?.groups
  return parts && timeOf(parts, Number(parts.month) - 1)
}

/**
 * A number: by its size seconds since 1970, or milliseconds, microseconds or nanoseconds. Seconds up to 1e11 are years
 * up to 5138, and milliseconds from there on are years from 1973 on.
 */
function numberTime(value: number): LogTime {
  if (!Number.isFinite(value)) return { wrong: 'its time is not a finite number' }
  const size = Math.abs(value)
  if (size < 1e11) return bounded(value * 1000)
  if (size < 1e14) return bounded(value)
  return bounded(size < 1e17 ? value / 1e3 : value / 1e6)
}

/** A time as JSON has it: text of one of the forms above, or a number, also as text. */
export function jsonTime(value: unknown): LogTime {
  if (typeof value === 'number') return numberTime(value)
  if (typeof value !== 'string') return { wrong: 'its time is neither text nor a number' }
  const text = value.trim()
  const iso = isoTime(text)
  if (iso !== undefined) return iso
  if (/^\d{1,20}(?:\.\d{1,9})?$/.test(text)) return numberTime(Number(text))
  if (text.includes('/')) return commonTime(text)
  return { wrong: 'its time is not like 2000-10-10T13:55:36Z' }
}
