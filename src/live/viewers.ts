import type { ServerResponse } from 'node:http'
import type { Clock, TimerHandle } from '../clock.js'
import { writeAll } from '../web/write-all.js'
import { documentOf } from './document.js'
import { type Frames, FrameWriter } from './frame-writer.js'
import type { Look, Looks } from './looks.js'

/** How long a viewer may leave what it was sent unread before its connection is closed, ms. */
const PATIENCE = 30_000

/** Somebody who follows by a stream. */
interface Viewer {
  readonly response: ServerResponse
  /** The look that it was sent last. */
  shown: Taken
  isWriting: boolean
  /** Since when it has not read what it was sent, clock time; then frames are left out. */
  behindSince: number | undefined
}

/** A look, and what was made of it. */
interface Taken {
  /** Clock time at its end, ms. */
  readonly at: number
  readonly look: Look
  frames: Promise<Framed> | undefined
}

interface Framed extends Frames {
  /** The look that `next` goes on from. */
  readonly after: Taken | undefined
}

/** A document of a look. */
interface Writing {
  readonly of: Taken
  /** Who waits for it. */
  readonly waiting: Set<ServerResponse>
  pieces: Promise<readonly Buffer[]>
  isDone: boolean
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

/**
 * Shows a balancer to all who watch, from one look an interval however many they are, and none while nobody does. Looks,
 * frames and documents of thousands of members are made over many turns of the event loop, one of each at a time.
 */
export class Viewers {
  readonly counters: ViewerCounters = { looks: 0, streams: 0, skipped: 0, stuck: 0, failed: 0 }
  readonly #clock: Clock
  readonly #interval: number
  readonly #looks: Looks
  readonly #writer = new FrameWriter()
  readonly #viewers = new Set<Viewer>()
  #taken: Taken | undefined
  #taking: Promise<Taken> | undefined
  // The last look of which frames are made.
  #framed: Taken | undefined
  #writing: Writing | undefined
  #timer: TimerHandle
  #isShowing = false
  #isClosed = false

  constructor(clock: Clock, interval: number, looks: Looks) {
    this.#clock = clock
    this.#interval = interval
    this.#looks = looks
  }

  /**
   * The whole view as one JSON document, in pieces: that of the last look, where it ended less than an interval ago.
   * @param response who waits for it; nothing more is made once all those who wait went away
   */
  async snapshot(response: ServerResponse): Promise<readonly Buffer[]> {
    const taken = await this.#current()
    let writing = this.#writing
    if (writing === undefined || (writing.isDone && writing.of !== taken)) writing = this.#write(taken)
    if (!writing.isDone) writing.waiting.add(response)
    return writing.pieces
  }

  /** Answers with a stream: the whole view, and then what changes. */
  async stream(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void> {
    // Who went away shows by the response's end.
    response.on('error', () => {})
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    response.flushHeaders()
    const taken = await this.#current()
    const frames = await this.#framesOf(taken)
    if (this.#isClosed || response.destroyed) {
      response.destroy()
      return
    }
    const viewer: Viewer = { response, shown: taken, isWriting: false, behindSince: undefined }
    void this.#send(viewer, frames.whole())
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

  // While there are viewers the timer takes looks.
  async #current(): Promise<Taken> {
    const taken = this.#taken
    if (taken !== undefined && (this.#viewers.size > 0 || this.#clock.now() - taken.at < this.#interval)) {
      return taken
    }
    return this.#take()
  }

  // All who need another look while one is taken get that one.
  #take(): Promise<Taken> {
    this.#taking ??= this.#look().finally(() => {
      this.#taking = undefined
    })
    return this.#taking
  }

  async #look(): Promise<Taken> {
    this.counters.looks++
    const look = await this.#looks.look()
    const taken = { at: this.#clock.now(), look, frames: undefined }
    this.#taken = taken
    return taken
  }

  #framesOf(taken: Taken): Promise<Framed> {
    if (taken.frames === undefined) {
      const after = this.#framed
      this.#framed = taken
      taken.frames = this.#framesAfter(after, taken.look)
    }
    return taken.frames
  }

  async #framesAfter(after: Taken | undefined, look: Look): Promise<Framed> {
    await after?.frames
    return { ...(await this.#writer.write(look)), after }
  }

  #write(taken: Taken): Writing {
    const waiting = new Set<ServerResponse>()
    const isWanted = () => {
      if (!this.#isClosed && [...waiting].some(({ destroyed }) => !destroyed)) return true
      this.#writing = undefined
      return false
    }
    const pieces = documentOf(taken.look, isWanted)
    const writing = { of: taken, waiting, pieces, isDone: false }
    const done = () => {
      writing.isDone = true
      waiting.clear()
    }
    pieces.then(done, done)
    this.#writing = writing
    return writing
  }

  #arm(): TimerHandle {
    return this.#clock.setTimeout(() => void this.#tick(), this.#interval)
  }

  async #tick(): Promise<void> {
    this.#timer = this.#arm()
    // The last look takes longer than an interval.
    if (this.#isShowing) return
    this.#isShowing = true
    try {
      const taken = await this.#take()
      const frames = await this.#framesOf(taken)
      for (const viewer of [...this.#viewers]) this.#show(viewer, taken, frames)
    } catch {
      // They come again, and what is wrong shows to them then.
      this.counters.failed++
      for (const { response } of [...this.#viewers]) response.destroy()
    } finally {
      this.#isShowing = false
    }
  }

  // One frame at a time: who does not read makes nothing pile up.
  #show(viewer: Viewer, taken: Taken, frames: Framed): void {
    const { response, behindSince, shown } = viewer
    // It came while this look was made into frames.
    if (shown === taken) return
    if (viewer.isWriting || response.writableLength > 0) {
      this.counters.skipped++
      const now = this.#clock.now()
      viewer.behindSince = behindSince ?? now
      if (now - viewer.behindSince < PATIENCE) return
      this.counters.stuck++
      response.destroy()
      return
    }
    viewer.behindSince = undefined
    viewer.shown = taken
    void this.#send(viewer, shown === frames.after ? frames.next : frames.whole())
  }

  async #send(viewer: Viewer, frame: readonly Buffer[]): Promise<void> {
    viewer.isWriting = true
    await writeAll(viewer.response, [EVENT, ...frame, END])
    viewer.isWriting = false
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

// A frame has no line breaks.
const EVENT = Buffer.from('data: ')
const END = Buffer.from('\n\n')
