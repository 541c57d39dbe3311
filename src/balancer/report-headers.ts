import { OptionError } from '../errors.js'
import { BINARY_HEADER, REPORT_HEADER } from '../reports/orca-headers.js'
import { isUint8Array } from '../typed-array.js'

/** What holds headers and looks them up by name: `Headers`, a `Map` with names in lower case, or grpc-js `Metadata`. */
export interface HeaderLookup {
  /** A header's value. */
  get(name: string): unknown
  /** Takes a header out, as `Headers` and `Map` do. */
  delete?(name: string): unknown
  /** Takes a header out, as `Metadata` of grpc-js does. */
  remove?(name: string): unknown
}

/**
 * Headers or trailers of a response: an object by names in lower case, as node:http and undici give; what looks them up; or
 * names and values in turn, as in `rawHeaders`.
 */
export type ReportSource = HeaderLookup | Readonly<Record<string, unknown>> | readonly unknown[]

/** The headers that may carry a report, the one that goes first before the other. */
const HEADERS = [BINARY_HEADER, REPORT_HEADER] as const
export type ReportHeader = (typeof HEADERS)[number]

/** A header that carries a report: bytes only where something has decoded them, as grpc-js does. */
export interface CarriedReport {
  readonly header: ReportHeader
  readonly value: unknown
}

/** The report's header among these; of several of one name the last. Throws OptionError for what holds no headers. */
export function carriedReport(source: ReportSource): CarriedReport | undefined {
  if (typeof source !== 'object' || source === null) {
    throw new OptionError('headers', source, 'headers, trailers, or undefined where there are none')
  }
  const isRaw = Array.isArray(source)
  for (const header of HEADERS) {
    const value = isRaw ? valueAmong(source, header) : lastOf(valueIn(source, header))
    if (value !== undefined && value !== null) return { header, value }
  }
  return undefined
}

/** Takes both headers out. Throws OptionError where they can't be taken out. */
export function stripReport(source: ReportSource): void {
  try {
    for (const header of HEADERS) strip(source, header)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new OptionError(
      'stripHeader',
      true,
      'headers that may be changed: those of a fetch response may not',
    )
  }
}

function isLookup(source: ReportSource): source is HeaderLookup {
  // A header may be called get, and then it is no function.
  return typeof (source as HeaderLookup).get === 'function'
}

function valueIn(source: ReportSource, header: string): unknown {
  return isLookup(source) ? source.get(header) : (source as Readonly<Record<string, unknown>>)[header]
}

function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value[value.length - 1] : value
}

function strip(source: ReportSource, header: string): void {
  if (Array.isArray(source)) {
    for (let i = source.length - (source.length % 2) - 2; i >= 0; i -= 2) {
      if (isNamed(source[i], header)) source.splice(i, 2)
    }
  } else if (!isLookup(source)) {
    delete (source as Record<string, unknown>)[header]
  } else if (source.delete !== undefined) {
    source.delete(header)
  } else {
    source.remove?.(header)
  }
}

// On the wire a header of bytes is text too.
function valueAmong(pairs: readonly unknown[], header: string): unknown {
  for (let i = pairs.length - (pairs.length % 2) - 2; i >= 0; i -= 2) {
    if (isNamed(pairs[i], header)) return textOf(lastOf(pairs[i + 1]))
  }
  return undefined
}

function isNamed(name: unknown, header: string): boolean {
  if (typeof name !== 'string' && !isUint8Array(name)) return false
  return name.length === header.length && String(textOf(name)).toLowerCase() === header
}

function textOf(value: unknown): unknown {
  if (!isUint8Array(value)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')
}
