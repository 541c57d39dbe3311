import { Histogram } from './histogram.js'
import type { Watcher } from './watcher.js'

/** What is looked at. */
export interface TimelineOptions {
  readonly servers: number
  /** Virtual time over which requests arrive, ms. */
  readonly length: number
  /** What arrives before is not in the distribution, ms. */
  readonly warmup: number
}

/** Windows that a run is cut into, at least; the next round width has no more than two and a half times as many. */
const WINDOWS = 100

/** The figures of one window. */
export interface TimelineWindow {
  /** Of the response times of the requests that arrived in it and were answered without error, ms; undefined where none was. */
  readonly p99: number | undefined
  /** Requests that arrived in it and were sent, by server. */
  readonly sent: readonly number[]
}

interface Window {
  readonly responses: Histogram
  readonly sent: Uint32Array
}

/**
 * What becomes of the requests of a run, by when they arrived: a burst, or a server that slows down, is seen where it
 * begins, however late the responses come. Memory goes with the number of windows, not of requests.
 */
export class Timeline implements Watcher {
  /** Length of a window, ms. */
  readonly width: number
  /** Response times after the warm-up. */
  readonly responses = new Histogram()
  readonly #servers: number
  readonly #warmup: number
  readonly #most: number
  readonly #windows: Window[] = []

  constructor({ servers, length, warmup }: TimelineOptions) {
    this.width = roundWidth(length / WINDOWS)
    this.#servers = servers
    this.#warmup = warmup
    // Requests that arrive by chance may take longer than they should; the last window takes what is beyond.
    this.#most = Math.ceil((1.2 * length) / this.width) + 1
  }

  sent(server: number, _balancer: number, time: number): void {
    const { sent } = this.#at(time)
    sent[server] = (sent[server] as number) + 1
  }

  ended(_server: number, ok: boolean, latency: number, time: number): void {
    if (!ok) return
    const arrived = time - latency
    this.#at(arrived).responses.add(latency)
    if (arrived >= this.#warmup) this.responses.add(latency)
  }

  /** The windows from the start on. */
  windows(): TimelineWindow[] {
    return this.#windows.map(({ responses, sent }) => ({
      p99: responses.count === 0 ? undefined : responses.quantile(0.99),
      sent: [...sent],
    }))
  }

  #at(time: number): Window {
    const index = Math.min(Math.max(0, Math.floor(time / this.width)), this.#most - 1)
    while (this.#windows.length <= index) {
      this.#windows.push({ responses: new Histogram(), sent: new Uint32Array(this.#servers) })
    }
    return this.#windows[index] as Window
  }
}

// The next lower of 1, 2, 5, 10 and so on.
function roundWidth(width: number): number {
  if (!(width > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(width))
  const step = [5, 2, 1].find((step) => step * power <= width) ?? 1
  return step * power
}
