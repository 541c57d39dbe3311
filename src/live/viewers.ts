import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSession, type Session } from 'better-sse'
import type { Clock, TimerHandle } from '../clock.js'
import { FrameReader, type FrameTexts, FrameWriter } from './frames.js'
import { Looks, type Watched } from './looks.js'

/** How long a viewer may leave what it was sent unread before its connection is closed, ms. */
const PATIENCE = 30_000

/** Somebody who follows by a stream. */
interface Viewer {
  readonly session: Session
  readonly response: ServerResponse
  /** Since when it has not read what it was sent, clock time; then frames are left out. */
  behindSince: number | undefined
}

interface Taken {
  /** Clock time, ms. */
  readonly at: number
  readonly texts: FrameTexts
  snapshot: string | undefined
}

/** What viewers cost and came to, since the start. */
export interface ViewerCounters {
  /** Looks at the balancer: none while nobody watches. */
  looks: number
  /** Streams begun. */
  streams: number
  /** Frames left out, since a viewer had not read the one before. */
  skipped: number
  /** Streams that were closed, since a viewer had not read for 30 s. */
  stuck: number
  /** Looks that failed. */
  failed: number
}

/** Shows a balancer to all who watch, from one look an interval however many they are, and none while nobody does. */
export class Viewers {
  readonly counters: ViewerCounters = { looks: 0, streams: 0, skipped: 0, stuck: 0, failed: 0 }
  readonly #clock: Clock
  readonly #interval: number
  readonly #looks: Looks
  readonly #writer = new FrameWriter()
  readonly #viewers = new Set<Viewer>()
  #taken: Taken | undefined
  #timer: TimerHandle
  #isClosed = false

  constructor(watched: Watched, interval: number) {
    this.#clock = watched.clock
    this.#interval = interval
    this.#looks = new Looks(watched, interval)
  }

  /** The whole view as one JSON document, at most an interval old. */
  snapshot(): string {
    const taken = this.#current()
    taken.snapshot ??= JSON.stringify(new FrameReader().read(taken.texts.whole()))
    return taken.snapshot
  }

  /** Answers with a stream: the whole view, and then what changes. */
  async stream(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    // Who went away shows by the response's end.
    response.on('error', () => {})
    const session = await createSession(request, response, {
      headers: { ...headers },
      // Frames come all the time, and have neither line breaks nor what has to be told after a lost connection.
      keepAlive: null,
      trustClientEventId: false,
      serializer: (frame) => frame as string,
      sanitizer: (frame) => frame,
    })
    if (this.#isClosed || response.destroyed) {
      response.destroy()
      return
    }
    const viewer: Viewer = { session, response, behindSince: undefined }
    session.push(this.#current().texts.whole(), 'message', '')
    this.counters.streams++
    this.#viewers.add(viewer)
    response.once('close', () => this.#leave(viewer))
    this.#timer ??= this.#arm()
  }

  close(): void {
    this.#isClosed = true
    this.#rest()
    for (const { response } of this.#viewers) response.destroy()
    this.#viewers.clear()
  }

  // While there are viewers the timer takes looks: another one would tear their frames apart.
  #current(): Taken {
    const taken = this.#taken
    if (taken !== undefined && (this.#viewers.size > 0 || this.#clock.now() - taken.at < this.#interval)) {
      return taken
    }
    return this.#take()
  }

  #take(): Taken {
    this.counters.looks++
    const texts = this.#writer.write(this.#looks.look())
    this.#taken = { at: this.#clock.now(), texts, snapshot: undefined }
    return this.#taken
  }

  #arm(): TimerHandle {
    return this.#clock.setTimeout(() => this.#tick(), this.#interval)
  }

  #tick(): void {
    this.#timer = this.#arm()
    try {
      const { texts } = this.#take()
      for (const viewer of [...this.#viewers]) this.#show(viewer, texts)
    } catch {
      // They come again, and what is wrong shows to them then.
      this.counters.failed++
      for (const { response } of [...this.#viewers]) response.destroy()
    }
  }

  // One frame at a time: who does not read makes nothing pile up.
  #show(viewer: Viewer, texts: FrameTexts): void {
    const { session, response, behindSince } = viewer
    if (response.writableLength > 0) {
      this.counters.skipped++
      const now = this.#clock.now()
      viewer.behindSince ??= now
      if (now - viewer.behindSince < PATIENCE) return
      this.counters.stuck++
      response.destroy()
      return
    }
    viewer.behindSince = undefined
    session.push(behindSince === undefined ? texts.next : texts.whole(), 'message', '')
  }

  #leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    if (this.#viewers.size === 0) this.#rest()
  }

  #rest(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
