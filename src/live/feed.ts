import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { checkOptions, options } from '../options.js'
import { tokenSchema } from '../web/token.js'
import type { FeedLost } from './follow.js'
import type { LiveView } from './live-view.js'

export type { FeedLost } from './follow.js'

/** How a feed is opened. */
export interface FeedOptions {
  /** The bearer token, where the balancer is served with one. Default: none. */
  readonly token?: string | undefined
  /** Ends the feed. Default: it ends when the loop over it is left. */
  readonly signal?: AbortSignal | undefined
}

const feedOptions = options({
  token: v.optional(tokenSchema),
  signal: v.optional(v.instance(AbortSignal, 'an AbortSignal')),
})

/**
 * Follows a balancer that is served: its view at once, then one after each interval; who is slow gets the newest, and
 * not those in between. Connects anew by itself, and says where a connection is lost. Ends with its signal, or when the
 * loop over it is left; it keeps the process alive until then. Certificates are trusted as Node.js does, with
 * `NODE_EXTRA_CA_CERTS`.
 *
 * @example
 * ```ts
 * for await (const view of openFeed('http://127.0.0.1:9090/')) {
 *   if (isView(view)) console.log(view.picksPerSecond)
 *   else console.error(view.error.message)
 * }
 * ```
 * @param url what `serve` gave
 * @throws OptionError for what is no URL, and for wrong options
 */
export function openFeed(url: string | URL, options: FeedOptions = {}): AsyncIterable<LiveView | FeedLost> {
  const { token, signal } = checkOptions('', options, feedOptions)
  const base = baseOf(url)
  return { [Symbol.asyncIterator]: () => eventsOf(base, token, signal) }
}

/** Whether what a feed gave is a view. */
export function isView(one: LiveView | FeedLost): one is LiveView {
  return !('kind' in one)
}

function baseOf(url: string | URL): URL {
  const text = String(url)
  const base = URL.canParse(text) ? new URL(text) : undefined
  if (base?.protocol !== 'http:' && base?.protocol !== 'https:') {
    throw new OptionError('url', text, 'the URL of a balancer that is served, such as http://127.0.0.1:9090/')
  }
  // So that what is beside the page is found.
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}

async function* eventsOf(
  url: URL,
  token: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<LiveView | FeedLost, void, undefined> {
  if (signal?.aborted) return
  // Loaded where it is used.
  const { follow } = await import('./follow.js')
  let newest: LiveView | FeedLost | undefined
  let wake = () => {}
  const take = (one: LiveView | FeedLost) => {
    newest = one
    wake()
  }
  const stop = () => wake()
  signal?.addEventListener('abort', stop)
  const end = follow(url, { token, onView: take, onLost: take })
  try {
    while (!signal?.aborted) {
      const one = newest
      newest = undefined
      if (one !== undefined) yield one
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    end()
  }
}
