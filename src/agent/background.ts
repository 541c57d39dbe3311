import type { Clock, TimerHandle } from '../clock.js'
import type { Sampling } from './sampling.js'

/** The newest sample that could be used. */
export interface LastSample {
  /** 0-100. */
  readonly percent: number
  /** When the sampler was asked for it, by the clock: a slow sampler's value is no fresher than that. */
  readonly at: number
}

/** Samples again and again in the background. */
export interface Background {
  /** The newest sample; undefined before the first. A failed sample leaves the one before in place, to age. */
  last(): LastSample | undefined
  /** Ends it; a sample that is under way is dropped. */
  stop(): void
}

/** Samples at once, and each time `interval` ms after the end of the last sample: samples never overlap. */
export function startBackground(sampling: Sampling, interval: number, clock: Clock): Background {
  let last: LastSample | undefined
  let stopped = false
  let timer: TimerHandle

  async function run(): Promise<void> {
    const at = clock.now()
    const outcome = await sampling.sample()
    if (stopped) return
    if (outcome.kind === 'value') last = { percent: outcome.percent, at }
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
