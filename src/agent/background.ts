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
  /** Resolves after the first sample, or after the second if the first gave no report. Never rejects. */
  readonly begun: Promise<void>
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

// Most samplers compare two readings. The second one need not be a whole interval away, but counters have ticks of 10 ms.
const SECOND = 100

/**
 * Samples at once, and each time `interval` ms after the end of the last sample: samples never overlap. If the first gives
 * no report, the second follows after 100 ms at most.
 */
export function startBackground({ take, interval, clock, onSample }: BackgroundOptions): Background {
  let last: LastSample | undefined
  let stopped = false
  let timer: TimerHandle
  let samples = 0
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })

  async function run(): Promise<void> {
    const at = clock.now()
    const report = await take()
    if (stopped) return
    if (report !== undefined) last = { report, at }
    samples++
    onSample()
    const again = samples === 1 && report === undefined
    if (!again) begin()
    timer = clock.setTimeout(run, again ? Math.min(interval, SECOND) : interval)
  }
  void run()

  return {
    last: () => last,
    begun,
    stop() {
      stopped = true
      begin()
      clock.clearTimeout(timer)
    },
  }
}
