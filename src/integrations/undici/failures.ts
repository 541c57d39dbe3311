/**
 * How a call failed:
 * - `connect`: nothing was sent, as there was no connection: refused, no such host, a certificate that is not trusted, or
 *   it took too long
 * - `timeout`: no headers, or no more of the body, in time; or the caller's `AbortSignal.timeout` ended it
 * - `reset`: the connection was lost after the request was sent, also in the middle of a body
 * - `protocol`: what came was no HTTP response, or its headers were too large
 * - `status`: a status that counts as failed
 */
export type FailureKind = 'connect' | 'timeout' | 'reset' | 'protocol' | 'status'

export const FAILURE_KINDS = ['connect', 'timeout', 'reset', 'protocol', 'status'] as const

/** Codes of errors that are the caller's own doing, or this process's. */
const OWN_CODES: ReadonlySet<string> = new Set([
  // What Node.js says of a chunk of a body that is none.
  'ERR_INVALID_ARG_TYPE',
  'UND_ERR_ABORT',
  'UND_ERR_ABORTED',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_INVALID_RETURN_VALUE',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
])

const TIMEOUT_CODES: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

const PROTOCOL_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
])

/**
 * The kind of failure that an error of undici's is; undefined where it is none of the node's.
 * @param isSent whether the request had a connection
 */
export function failureOf(error: unknown, isSent: boolean): FailureKind | undefined {
  const code = codeOf(error)
  if (code !== undefined && OWN_CODES.has(code)) return undefined
  if (!isSent) return 'connect'
  // It has a code in some versions alone.
  if (nameOf(error) === 'HTTPParserError') return 'protocol'
  // What comes off a network has a code; what a body's own source throws seldom does.
  if (code === undefined) return undefined
  if (TIMEOUT_CODES.has(code)) return 'timeout'
  return PROTOCOL_CODES.has(code) ? 'protocol' : 'reset'
}

/** The kind of failure that a caller's abort is: its time was up, or it has changed its mind. */
export function failureOfAbort(reason: unknown): FailureKind | undefined {
  return nameOf(reason) === 'TimeoutError' ? 'timeout' : undefined
}

/** Whether an error says that no connection could be made; those of lost connections may have the same codes. */
export function isOfConnecting(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isOfConnecting)
  if (typeof error !== 'object' || error === null) return false
  const { syscall } = error as { syscall?: unknown }
  return syscall === 'connect' || syscall === 'getaddrinfo' || codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT'
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function nameOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined
}
