/**
 * What an error says about a request, beyond that it failed:
 * - `refused`: nothing accepts connections at the node's address, so it did no work. That is never overload.
 * - `stale`: the server had closed an idle connection that the request was sent on, and no byte of an answer came.
 * - `unprocessed`: over HTTP/2 the server refused the stream, or went away before it looked at it.
 * - `aborted`: the caller gave it up, with an `AbortError`.
 *
 * The last three say nothing of the node.
 */
export type FailureCause = 'refused' | 'stale' | 'unprocessed' | 'aborted'

const REFUSALS: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
])

/** What undici says where a server closes an HTTP/2 connection in good order, as after its longest age. */
const GOING_AWAY = /"GOAWAY" frame received with code 0$/

/** How many causes of an error are looked at. */
const DEEPEST = 5

/** How many bytes came over the connection that this error ended, for errors that do not say so themselves. */
const bytesRead = new WeakMap<object, number>()

/** Notes how many bytes came over the connection that an error ended. */
export function noteBytesRead(error: object, bytes: number): void {
  bytesRead.set(error, bytes)
}

/**
 * What an error, or one of its causes, says about a request. Never throws.
 * @param isUnanswered whether it is known that no byte of an answer came. Of errors of `fetch` it is known anyway.
 */
export function causeOf(error: unknown, isUnanswered = false): FailureCause | undefined {
  try {
    return causeIn(error, isUnanswered)
  } catch {
    // Whatever was thrown may have getters that throw.
    return undefined
  }
}

function causeIn(error: unknown, isUnanswered: boolean): FailureCause | undefined {
  if (isObject(error) && 'name' in error && error.name === 'AbortError') return 'aborted'
  let hasNone = isUnanswered
  let current = error
  for (let depth = 0; depth < DEEPEST && isObject(current); depth++) {
    if (isRefusal(current)) return 'refused'
    if (isUnprocessed(current)) return 'unprocessed'
    // Only `fetch` says whether an answer had begun: then it is "terminated", with the same cause.
    if (hasNone && isOfReusedConnection(current)) return 'stale'
    hasNone ||= current instanceof TypeError && current.message === 'fetch failed'
    current = 'cause' in current ? current.cause : undefined
  }
  return undefined
}

/**
 * Whether an error ended a connection that had carried an answer before, or that the server closed in good order.
 * @param error what a request failed with of which no answer had come
 */
function isOfReusedConnection(error: object): boolean {
  if (error instanceof Error && GOING_AWAY.test(error.message)) return true
  const noted = bytesRead.get(error)
  if (noted !== undefined) return noted > 0
  if (!('code' in error) || error.code !== 'UND_ERR_SOCKET' || !('socket' in error)) return false
  const { socket } = error
  return isObject(socket) && 'bytesRead' in socket && Number(socket.bytesRead) > 0
}

function isRefusal(error: object): boolean {
  // Of a host with several addresses, where none of them could be connected to.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isRefusing)
  return isRefusing(error)
}

function isRefusing(error: unknown): boolean {
  return isObject(error) && 'code' in error && REFUSALS.has(error.code)
}

// undici tells of streams beyond the last one that a server took with "UND_ERR_INFO", since version 8.
function isUnprocessed(error: object): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof message !== 'string') return false
  return message.includes('NGHTTP2_REFUSED_STREAM') || (code === 'UND_ERR_INFO' && GOING_AWAY.test(message))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
