import type { LiveView } from './live-view.js'

/** How a feed is opened. */
export interface FeedOptions {
  /** The bearer token, where the balancer is served with one. */
  readonly token?: string
  /** Ends the feed. */
  readonly signal?: AbortSignal
}

/** The connection is lost, or there never was one; it is tried again. */
export interface FeedLost {
  readonly kind: 'lost'
  readonly error: Error
}

/**
 * Follows a balancer that is served: its view at once, then one after each interval. Connects anew by itself, and says so
 * where a connection is lost. Ends with its signal, or when the loop over it is left.
 * @param url what `serve` gave, such as `http://127.0.0.1:9090/`
 */
export function openFeed(url: string | URL, options: FeedOptions = {}): AsyncIterable<LiveView | FeedLost> {
  throw new Error(`not yet: ${url} ${options.token}`)
}

/** Whether what a feed gave is a view. */
export function isView(one: LiveView | FeedLost): one is LiveView {
  return !('kind' in one)
}
