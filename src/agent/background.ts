import type { Clock, TimerHandle } from '../clock.js'
import type { Report } from '../report.js'

/** The newest sample that could be used. */
export interface LastSample {
  /** What it says, without an age. */
  readonly report: Report
  /** When it was asked for, by the clock: a slow sampler's value is no fresher than that. */
  readonly at: number
}

/** Samples again and again in the background. */
export interface Background {
  /** The newest sample; undefined before the first. A failed sample leaves the one before in place, to age. */
  last(): LastSample | undefined
  /** Ends it; a sample that is under way is dropped. */
  stop(): void
}

export interface BackgroundOptions {
  /** Takes a sample; undefined: there is none. Must not reject. */
  readonly take: () => Promise<Report | undefined>
  /** From the end of a sample to the start of the next, ms. */
  readonly interval: number
  readonly clock: Clock
  /** Called after each sample, whether it could be used or not. */
  readonly onSample: () => void
}

/** Samples at once, and each time `interval` ms after the end of the last sample: samples never overlap. */
export function startBackground({ take, interval, clock, onSample }: BackgroundOptions): Background {
  let last: LastSample | undefined
  let stopped = false
  let timer: TimerHandle

  async function run(): Promise<void> {
    const at = clock.now()
    const report = await take()
    if (stopped) return
    if (report !== undefined) last = { report, at }
    onSample()
    timer = clock.setTimeout(run, interval)
  }
  void run()

  return {
    last: () => last,
    stop() {
      stopped = true
      clock.clearTimeout(timer)
    },
  }
}
