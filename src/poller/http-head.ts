/** Headers of an answer, by their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** An answer that is not HTTP as it may be. */
export class HttpError extends Error {}

/** How the end of an answer's body is found. */
export type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  /** With the end of the connection. */
  | { readonly kind: 'close' }

/** What stands before the body of an answer. */
export interface HttpHead {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly framing: Framing
  /** How long the connection may lie idle before the node closes it, ms; 0: it is not kept. Infinite: the node does not say. */
  readonly keptFor: number
}

/** Most fields of a head: each takes its time, and an answer to a poll needs a few. */
const MOST_FIELDS = 128

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/

/**
 * Reads a head.
 * @param text up to the empty line, without it
 * @throws HttpError
 */
export function readHead(text: string): HttpHead {
  const end = text.indexOf('\r\n')
  const first = end < 0 ? text : text.slice(0, end)
  const [, minor, status] = STATUS_LINE.exec(first) ?? []
  if (status === undefined) throw new HttpError('the answer does not begin with a status line of HTTP/1')
  const headers = end < 0 ? {} : readFields(text, end + 2)
  const framing = framingOf(Number(status), headers, minor === '1')
  return { status: Number(status), headers, framing, keptFor: keptFor(headers, framing, minor === '1') }
}

function readFields(text: string, start: number): AnswerHeaders {
  const fields: Record<string, string | string[]> = Object.create(null)
  let count = 0
  for (let at = start; at < text.length; ) {
    if (++count > MOST_FIELDS) throw new HttpError(`more than ${MOST_FIELDS} header fields`)
    const feed = text.indexOf('\r\n', at)
    const end = feed < 0 ? text.length : feed
    const colon = text.indexOf(':', at)
    const name = text.slice(at, colon < 0 || colon > end ? end : colon)
    const value = text.slice(at + name.length + 1, end)
    if (!NAME.test(name) || colon !== at + name.length || CONTROLS.test(value)) {
      throw new HttpError('a header field that is not "name: value"')
    }
    add(fields, name.toLowerCase(), value.trim())
    at = end + 2
  }
  return fields
}

function add(fields: Record<string, string | string[]>, name: string, value: string): void {
  const before = fields[name]
  if (before === undefined) fields[name] = value
  else if (Array.isArray(before)) before.push(value)
  else fields[name] = [before, value]
}

function framingOf(status: number, headers: AnswerHeaders, isCurrent: boolean): Framing {
  const length = headers['content-length']
  const coding = headers['transfer-encoding']
  if (status < 200 || status === 204 || status === 304) return { kind: 'length', length: 0 }
  if (coding !== undefined) {
    if (length !== undefined) throw new HttpError('both content-length and transfer-encoding')
    if (!isCurrent || String(coding).toLowerCase() !== 'chunked') {
      throw new HttpError('a transfer-encoding other than chunked')
    }
    return { kind: 'chunked' }
  }
  if (length === undefined) return { kind: 'close' }
  if (typeof length !== 'string' || !/^\d{1,15}$/.test(length)) {
    throw new HttpError('a content-length that is not one whole number')
  }
  return { kind: 'length', length: Number(length) }
}

function keptFor(headers: AnswerHeaders, framing: Framing, isCurrent: boolean): number {
  const options = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((option) => option.trim())
  const isKept = isCurrent ? !options.includes('close') : options.includes('keep-alive')
  if (!isKept || framing.kind === 'close') return 0
  const [, timeout] = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(String(headers['keep-alive'] ?? '')) ?? []
  return timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1_000
}
