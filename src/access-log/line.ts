import { hasFields } from '../fields.js'
import { commonTime, jsonTime, type LogTime } from './times.js'

/** Longest line that is looked at, in characters. */
export const LONGEST_LINE = 64 * 1024

/** Fields of JSON lines that are looked for, the first that is there. */
const TIME_FIELDS = [
  'time',
  'timestamp',
  '@timestamp',
  'ts',
  'time_iso8601',
  'time_local',
  'msec',
  'datetime',
  'date',
  'start_time',
  'startTime',
  'StartUTC',
] as const

// The time stands in brackets and right before the request, which is in quotes.
const TIME = / \[([^[\]"]{1,64})\] "/g
const HEAD = /^\S+ \S+ \S/
const REST = /(?:[^"\\]|\\.)*" (?:\d{3}|-) (?:\d+|-)(?: |$)/y

function commonLine(line: string): LogTime {
  TIME.lastIndex = 0
  const found = TIME.exec(line)
  if (found === null) return { wrong: 'there is no [time] before a "request"' }
  if (!HEAD.test(line.slice(0, found.index))) {
    return { wrong: 'there are no host, identity and user before the time' }
  }
  REST.lastIndex = TIME.lastIndex
  if (!REST.test(line)) return { wrong: 'the "request" is not followed by a status and a number of bytes' }
  return commonTime(found[1] as string)
}

function jsonLine(line: string, field: string | undefined): LogTime {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { wrong: 'it is not JSON' }
  }
  if (!hasFields(value)) return { wrong: 'it is not an object' }
  const name = field ?? TIME_FIELDS.find((name) => Object.hasOwn(value, name))
  if (name === undefined) return { wrong: 'it has no field for the time, such as "time" or "timestamp"' }
  return Object.hasOwn(value, name) ? jsonTime(value[name]) : { wrong: `it has no field "${name}"` }
}

/**
 * When a line of an access log says that a request came: of the common or the combined format, also with more before or
 * after, or of JSON lines. Never throws.
 * @param field of JSON lines: the time's; else the first of {@link TIME_FIELDS} that is there
 */
export function timeOfLine(line: string, field?: string): LogTime {
  if (line.length > LONGEST_LINE) {
    return { wrong: `it is longer than ${LONGEST_LINE.toLocaleString('en')} characters` }
  }
  return line.trimStart().startsWith('{') ? jsonLine(line, field) : commonLine(line)
}
