import { EventSource } from 'eventsource'
import { FrameReader } from './frames.js'
import type { LiveView } from './live-view.js'

/** The connection is lost, or there never was one; it is tried again. */
export interface FeedLost {
  readonly kind: 'lost'
  readonly error: Error
  /** HTTP status, where there was an answer, such as 401 for a token that is wrong or missing. */
  readonly status: number | undefined
}

export interface FollowOptions {
  /** The bearer token. */
  readonly token: string | undefined
  readonly onView: (view: LiveView) => void
  readonly onLost: (lost: FeedLost) => void
}

/** After a refusal, and after silence, ms; a connection that breaks is tried anew by the event source itself. */
const RETRY = 2_000
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
    clearTimeout(timer)
    const opened = new EventSource(stream, { fetch: fetchWith(token) })
    source = opened
    let reader = new FrameReader()
    opened.addEventListener('open', () => {
      reader = new FrameReader()
    })
    opened.addEventListener('message', ({ data }) => {
      if (hasEnded || source !== opened) return
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
      const text = code === undefined ? plain(message) : wordsFor(code)
      if (opened.readyState === opened.CLOSED) lose(text, code)
      else {
        clearTimeout(timer)
        onLost({ kind: 'lost', error: new Error(text), status: code })
      }
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
  return `the balancer answered ${status}`
}

function fetchWith(token: string | undefined): typeof fetch {
  // Called apart from its object: browsers insist on the right one.
  if (token === undefined) return (input, init) => fetch(input, init)
  return (input, init) =>
    fetch(input, { ...init, headers: { ...(init?.headers as object), authorization: `Bearer ${token}` } })
}
