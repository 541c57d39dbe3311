import { OptionError, reasonOf } from '../../errors.js'
import { isMeasurable, type MeasuredView } from '../../estimate/measured.js'

/** Nothing useful comes from where a live balancer was said to be. */
export class SnapshotError extends Error {}

/** How long a balancer may take to answer, ms. */
const PATIENCE = 10_000

/** Where a live balancer gives its snapshot, by the URL of its page. */
function snapshotUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    throw new OptionError('--from', text, 'the URL of a live balancer, such as http://127.0.0.1:9090/')
  }
  return new URL('snapshot', url.pathname.endsWith('/') ? url : `${url.origin}${url.pathname}/`)
}

/** Longest snapshot, bytes: that of some hundred thousand members. */
const MOST_BYTES = 128 * 2 ** 20

/** The body of an answer; what is longer is not read to its end. */
async function bodyOf(response: Response, most: number): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > most) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

// In what JSON.parse throws stands a piece of the body, which may have what terminals obey.
function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

// What fetch says is no more than that it failed; why is in its cause.
function why(error: unknown, patience: number): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `no answer in ${patience} ms`
  return reasonOf(error instanceof TypeError && error.cause !== undefined ? error.cause : error)
}

/**
 * Asks a live balancer, as `balancer.serve()` serves it, what it knows.
 * @throws OptionError for what is no URL, SnapshotError where nothing useful comes from there
 */
export async function readSnapshot(
  from: string,
  token: string | undefined,
  { patience = PATIENCE, most = MOST_BYTES } = {},
): Promise<MeasuredView> {
  const url = snapshotUrl(from)
  const failed = (reason: string, cause?: unknown): never => {
    throw new SnapshotError(`can't read ${url}: ${reason}`, { cause })
  }
  const headers = new Headers({ accept: 'application/json' })
  if (token !== undefined) {
    try {
      headers.set('authorization', `Bearer ${token}`)
    } catch {
      // Its value is in no message.
      throw new OptionError('--token', '(hidden)', 'visible ASCII characters without spaces')
    }
  }
  let value: unknown
  try {
    const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(patience) })
    if (response.status === 401) return failed('it asks for a token: --token, or IDLEST_TOKEN')
    if (!response.ok) return failed(`status ${response.status}`)
    const body = await bodyOf(response, most)
    if (body === undefined) return failed(`a body of more than ${most} bytes`)
    value = parsed(body)
  } catch (error) {
    if (error instanceof SnapshotError) throw error
    return failed(why(error, patience), error)
  }
  if (!isMeasurable(value)) return failed('that is no snapshot of a balancer')
  return value
}
