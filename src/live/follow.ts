import { EventSource, type FetchLike } from 'eventsource'
import { FrameReader } from './frames.js'
import type { LiveView } from './live-view.js'

/** The connection is lost, or there never was one; it is tried again. */
export interface FeedLost {
  /** Tells it from a view; see `isView`. */
  readonly kind: 'lost'
  /** What went wrong. */
  readonly error: Error
  /** HTTP status, where there was an answer, such as 401 for a token that is wrong or missing. */
  readonly status: number | undefined
}

interface FollowOptions {
  /** The bearer token. */
  readonly token: string | undefined
  readonly onView: (view: LiveView) => void
  readonly onLost: (lost: FeedLost) => void
}

/** From the loss of a connection until the next is tried, ms, whatever the balancer asks for. */
const RETRY = 2_000
/** How long an answer may take, ms. */
const PATIENCE = 10_000
/** Longest event, bytes: that of some hundred thousand members. What is longer is no balancer's. */
const LONGEST_EVENT = 32 * 2 ** 20
/** A stream that is silent for so many intervals, and 5 s, is dead. */
const SILENT_INTERVALS = 3
const SILENT_TIME = 5_000

/**
 * Follows a balancer that is served, until what this returns is called. Connects anew by itself. Runs in a browser too.
 * @param url what `serve` gave
 */
export function follow(url: string | URL, { token, onView, onLost }: FollowOptions): () => void {
  const stream = new URL('stream', url)
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasEnded = false

  function open(): void {
    // An event source alone would wait for an answer for ever.
    again(PATIENCE, () => lose(`no answer in ${PATIENCE / 1000} s`))
    let bytes = 0
    const opened = new EventSource(stream, {
      fetch: fetchWith(token, (size) => {
        bytes += size
        if (bytes > LONGEST_EVENT) throw new Error('what it sends is longer than any view')
      }),
    })
    source = opened
    const reader = new FrameReader()
    opened.addEventListener('message', ({ data }) => {
      if (hasEnded || source !== opened) return
      bytes = 0
      try {
        const view = reader.read(data as string)
        again(SILENT_INTERVALS * view.interval + SILENT_TIME, () => lose('the balancer is silent'))
        onView(view)
      } catch (error) {
        lose(error instanceof Error ? error.message : String(error))
      }
    })
    opened.addEventListener('error', ({ code, message }) => {
      if (hasEnded || source !== opened) return
      lose(code === undefined ? plain(message) : wordsFor(code), code)
    })
  }

  function again(wait: number, run: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(run, wait)
  }

  function lose(text: string, status?: number): void {
    source?.close()
    again(RETRY, open)
    onLost({ kind: 'lost', error: new Error(text), status })
  }

  open()
  return () => {
    hasEnded = true
    clearTimeout(timer)
    source?.close()
  }
}

// What fetch throws says of itself first that it is a TypeError.
function plain(message = 'the connection was closed'): string {
  return message.replace(/^TypeError: (fetch failed: )?/, '')
}

function wordsFor(status: number): string {
  if (status === 401) return 'the token is wrong, or missing (401)'
  if (status === 421) return 'the balancer is to be called by its address, or localhost (421)'
  if (status === 200 || status === 204)
    return `what answers there is no balancer: no stream of events (${status})`
  return `the balancer answered ${status}`
}

/** @param onBytes told of the size of all that comes; what it throws ends the connection */
function fetchWith(token: string | undefined, onBytes: (size: number) => void): FetchLike {
  return async (input, init) => {
    const headers = { ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    // Called apart from its object: browsers insist on the right one.
    const response = await fetch(input, { ...(init as RequestInit), headers })
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onBytes(chunk.byteLength)
        controller.enqueue(chunk)
      },
    })
    return {
      url: response.url,
      status: response.status,
      redirected: response.redirected,
      headers: response.headers,
      body: response.body?.pipeThrough(counted) ?? null,
    }
  }
}
