import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2'
import { reasonOf } from '../errors.js'
import type { Failure } from './answer.js'

/** gRPC's status for a service or method that a server does not have. */
export const UNIMPLEMENTED = 12

/** The names of gRPC's statuses, by their codes. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
]

// These tell of an end; others are the node's mistakes.
const EXITS = new Set(['CANCELLED', 'DEADLINE_EXCEEDED', 'UNAVAILABLE'])

/** What a node's headers or trailers say of the call. */
export interface GrpcStatus {
  /** The call's status; undefined: it goes on, or it was never one of gRPC. */
  readonly code?: number
  /** In the node's words. */
  readonly message?: string
  /** Why this is no answer of gRPC. */
  readonly wrong?: string
}

/** Reads the headers that begin an answer, or trailers as such. */
export function statusOf(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): GrpcStatus {
  const code = Number(headers['grpc-status'] ?? Number.NaN)
  if (Number.isInteger(code)) {
    const message = headers['grpc-message']
    return { code, message: typeof message === 'string' ? unescaped(message) : '' }
  }
  const status = headers[':status']
  // As gRPC maps it: there is no such service.
  if (status === 404) return { code: UNIMPLEMENTED, message: 'HTTP status 404' }
  if (status !== 200) return { wrong: `HTTP status ${status}` }
  const type = headers['content-type']
  if (type === undefined || type.startsWith('application/grpc')) return {}
  return { wrong: `it does not speak gRPC: content-type ${type}` }
}

/** What a stream's end by this status is. */
export function failureOf(code: number, message = ''): Failure {
  if (code === 0) return { kind: 'exit', reason: 'the node ended the stream' }
  const name = NAMES[code] ?? `status ${code}`
  return { kind: EXITS.has(name) ? 'exit' : 'error', reason: reasonOf(message === '' ? name : message) }
}

// gRPC escapes all but visible ASCII as URLs do.
function unescaped(message: string): string {
  try {
    return decodeURIComponent(message)
  } catch {
    return message
  }
}
