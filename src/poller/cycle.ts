import type { Clock, TimerHandle } from '../clock.js'
import { channels, type PollEvent } from '../telemetry.js'
import { emptyTally, type Tally } from './answer.js'

/** What a cycle works with: nothing of it knows where reports come from. */
export interface CycleOptions {
  /** The balancer's name, for events. */
  readonly name: string
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Pause from the end of a cycle to the start of the next, ms. */
  readonly interval: number
  /** The first cycle starts after a uniform random time of up to this, ms. */
  readonly startupJitter: number
  /** Longest time of a cycle, ms. */
  readonly timeout: number
  /** Loads what the rounds need, such as a thread; the first cycle waits for it. */
  readonly prepare?: (() => Promise<void>) | undefined
  /** Asks all remote members; resolves by the time-out. */
  readonly round: (timeout: number) => Promise<Tally>
  /** Samples the local node and writes its reading. What it throws is its own to report. */
  readonly sampleSelf?: (() => Promise<void>) | undefined
  /** Makes what was written visible: once a cycle. */
  readonly publish: () => void
  /** A cycle has ended and was published. */
  readonly onEnd: (tally: Tally) => void
}

/**
 * The poll cycle: sample the local node and ask every remote at once, publish, pause, again. Cycles never overlap, and
 * each ends by its time-out whatever the remotes or the sampler do.
 */
export class Cycle {
  /** Cycles begun. */
  count = 0
  readonly #options: CycleOptions
  #timer: TimerHandle | undefined
  #started = false
  #state: 'idle' | 'running' | 'closed' = 'idle'
  #abort: ((error: Error) => void) | undefined

  constructor(options: CycleOptions) {
    this.#options = options
  }

  /**
   * Arms the first cycle, which never starts within this call.
   * @param startupJitter in place of the option
   */
  start(startupJitter = this.#options.startupJitter): void {
    if (this.#started || this.#closed) return
    this.#started = true
    const { prepare, random } = this.#options
    this.#arm(random() * startupJitter, prepare?.())
  }

  /** Ends the cycle in progress without a publication, and all further ones. */
  close(error: Error): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    if (this.#timer !== undefined) this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#abort?.(error)
  }

  #arm(delay: number, prepared?: Promise<void>): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined
      if (prepared === undefined) void this.#run()
      else void prepared.then(() => this.#run())
    }, delay)
  }

  // Whatever happens inside, the next cycle comes.
  async #run(): Promise<void> {
    const { clock, interval, publish, onEnd } = this.#options
    if (this.#state !== 'idle') return
    this.#state = 'running'
    this.count++
    const began = clock.now()
    const aborted = new Promise<never>((_, reject) => {
      this.#abort = reject
    })
    // A subscriber of the start may close it.
    const event = this.#tellStart()
    const { tally, error } = await this.#work(aborted)
    this.#abort = undefined
    if (this.#closed) {
      this.#tellEnd(event, began, tally, error)
      return
    }
    publish()
    this.#state = 'idle'
    this.#arm(interval)
    onEnd(tally)
    this.#tellEnd(event, began, tally, error)
  }

  get #closed(): boolean {
    return this.#state === 'closed'
  }

  async #work(aborted: Promise<never>): Promise<{ tally: Tally; error?: unknown }> {
    const { round, timeout } = this.#options
    try {
      if (this.#closed) return await aborted
      // The sampler goes first: its own time-out then fires before that of the cycle.
      const work = Promise.all([this.#sample(timeout), round(timeout)])
      const [, tally] = await Promise.race([work, aborted])
      return { tally }
    } catch (error) {
      return { tally: emptyTally(), error }
    }
  }

  async #sample(timeout: number): Promise<void> {
    const { sampleSelf, clock } = this.#options
    if (sampleSelf === undefined) return
    const sampled = settled(sampleSelf)
    let timer: TimerHandle
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, timeout)
    })
    await Promise.race([sampled, late]).finally(() => clock.clearTimeout(timer))
  }

  #tellStart(): PollEvent | undefined {
    const { start, end, error } = channels.poll
    if (!start.hasSubscribers && !end.hasSubscribers && !error.hasSubscribers) return undefined
    const event: PollEvent = { balancer: this.#options.name, cycle: this.count }
    start.publish(event)
    return event
  }

  #tellEnd(begun: PollEvent | undefined, began: number, tally: Tally, error: unknown): void {
    if (begun === undefined) return
    begun.duration = this.#options.clock.now() - began
    begun.asked = tally.asked
    begun.stored = tally.stored
    begun.failed = tally.failed.length
    if (error !== undefined) {
      begun.error = error
      channels.poll.error.publish(begun)
    }
    channels.poll.end.publish(begun)
  }
}

async function settled(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch {
    // Counted and reported by whoever samples.
  }
}
