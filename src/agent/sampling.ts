import type { Clock } from '../clock.js'
import { SamplerError, shown } from '../errors.js'
import { channels, type SamplerErrorEvent } from '../telemetry.js'
import { warn as emitWarning } from '../warn.js'
import type { Sampler } from './samplers/sampler.js'

/** Why a sample could not be used. */
export type SampleFailure =
  /** The sampler threw. */
  | 'threw'
  /** Its promise was rejected. */
  | 'rejected'
  /** Its promise took longer than the timeout, or is still pending from an earlier call. */
  | 'hung'
  /** It gave something that is neither undefined nor a finite number >= 0. */
  | 'invalid'

/** What came of one sample. */
export type SampleOutcome =
  /** `percent`: 0-100. */
  | { readonly kind: 'value'; readonly percent: number }
  /** The sampler has no value yet: publish nothing. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly reason: SampleFailure; readonly error: SamplerError }

/** How often each outcome of a sampler came, since the start. */
export interface SamplingCounters {
  /** Samples that gave a value. */
  readonly values: number
  /** Samples that gave nothing yet: the sampler had no value. */
  readonly none: number
  /** Samples that threw. */
  readonly threw: number
  /** Samples whose promise was rejected. */
  readonly rejected: number
  /** Samples that took longer than the timeout, or would have begun before such a one had ended. */
  readonly hung: number
  /** Samples that gave something that is neither undefined nor a finite number of at least 0. */
  readonly invalid: number
  /** Results of hung samples that came after all, and were dropped. */
  readonly late: number
}

/** Calls one sampler, safely. */
export interface Sampling {
  readonly counters: SamplingCounters
  /** Takes a sample. Never rejects; while one is being taken, gives the outcome of that one. */
  sample(): Promise<SampleOutcome>
}

export interface SamplingOptions {
  readonly sampler: Sampler
  /** How long a promise of the sampler may take, ms. */
  readonly timeout: number
  readonly clock: Clock
  /** Whose sampler it is, for messages and telemetry: a balancer's name, or `agent`. */
  readonly source: string
  /** Where warnings go; the process's by default. */
  readonly warn?: ((message: string, code: string) => void) | undefined
}

// One warning a minute at most: a broken sampler fails at each sample.
const WARN_INTERVAL = 60_000

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : shown(error)
}

/**
 * Wraps a sampler so that whatever it does becomes an outcome. A failure is counted by its reason, published on
 * `idlest:sampler:error` and warned of at most once a minute. A sampler that hangs is not called again before its
 * promise settles, so calls don't pile up; what it gives then is dropped.
 */
export function createSampling(options: SamplingOptions): Sampling {
  const { sampler, timeout, clock, source, warn = emitWarning } = options
  const counters = { values: 0, none: 0, threw: 0, rejected: 0, hung: 0, invalid: 0, late: 0 }
  /** The sample that is being taken, with time left. */
  let current: Promise<SampleOutcome> | undefined
  /** A promise of the sampler outlived its timeout, and is pending. */
  let hanging = false
  let warnedAt = Number.NEGATIVE_INFINITY
  let unwarned = 0

  function failed(reason: SampleFailure, what: string, value?: unknown, cause?: unknown): SampleOutcome {
    counters[reason]++
    const error = new SamplerError(`the sampler of ${source} ${what}`, value, cause)
    unwarned++
    if (clock.now() - warnedAt >= WARN_INTERVAL) {
      warnedAt = clock.now()
      const more = unwarned > 1 ? ` (${unwarned} failures since the last warning)` : ''
      unwarned = 0
      warn(`${error.message}${more}`, error.code)
    }
    if (channels.samplerError.hasSubscribers) {
      channels.samplerError.publish({ source, error } satisfies SamplerErrorEvent)
    }
    return { kind: 'failed', reason, error }
  }

  function judged(value: unknown): SampleOutcome {
    if (value === undefined) {
      counters.none++
      return { kind: 'none' }
    }
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      return failed('invalid', `gave ${shown(value)}: expected a finite number >= 0, in percent`, value)
    }
    counters.values++
    return { kind: 'value', percent: Math.min(value, 100) + 0 }
  }

  function awaited(promise: PromiseLike<unknown>): Promise<SampleOutcome> {
    return new Promise((resolve) => {
      let over = false
      const timer = clock.setTimeout(() => {
        over = true
        hanging = true
        resolve(failed('hung', `took longer than ${timeout} ms`))
      }, timeout)
      const settle = (outcome: () => SampleOutcome): void => {
        if (over) {
          hanging = false
          counters.late++
          return
        }
        clock.clearTimeout(timer)
        resolve(outcome())
      }
      Promise.resolve(promise).then(
        (value) => settle(() => judged(value)),
        (error) => settle(() => failed('rejected', `was rejected: ${messageOf(error)}`, undefined, error)),
      )
    })
  }

  async function take(): Promise<SampleOutcome> {
    if (hanging) return failed('hung', 'has not answered an earlier call yet')
    let value: unknown
    let later: PromiseLike<unknown> | undefined
    try {
      value = typeof sampler === 'function' ? sampler() : sampler.sample()
      if (isThenable(value)) later = value
    } catch (error) {
      return failed('threw', `threw: ${messageOf(error)}`, undefined, error)
    }
    return later === undefined ? judged(value) : awaited(later)
  }

  return {
    counters,
    sample() {
      current ??= take().finally(() => {
        current = undefined
      })
      return current
    },
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
