import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { hasFields } from '../fields.js'
import { checkOptions, options, whole } from '../options.js'
import { causeOf } from './failure-causes.js'
import { isFailure, isOutcome, type Lease, OUTCOME, type Outcome } from './lease.js'
import type { NodeLike } from './node.js'
import type { RetryBudget } from './retry-budget.js'
import type { SelectOptions } from './select-options.js'

/** What `run` takes. */
export interface RunOptions extends SelectOptions {
  /**
   * Ends the call: once it is aborted nothing is begun or retried, and what `work` throws blames no node, whatever the
   * reason, `AbortSignal.timeout()` included. `run` itself waits for `work`, which gets the signal. Default: none.
   */
  signal?: AbortSignal | undefined
  /**
   * How often the work may be done, the first time too, 1 to 10: each time on another node, and within the balancer's
   * `retryBudget`. Everything that `work` throws is retried if it counts as a failure of the node. So ask for more than one
   * attempt only where the work may be done twice. Default 1.
   */
  attempts?: number | undefined
}

/** What `work` is told of its call, besides the node. */
export class RunCall {
  /** Which attempt it is, from 1. */
  readonly attempt: number
  /**
   * `'retry'` from the second attempt on. (It also makes `run(fetch)` an error in TypeScript: `fetch` would take this
   * object for its options, and the id for a URL, which it is not.)
   */
  readonly mode: 'first' | 'retry'
  /** What the attempt before failed with; undefined for the first. */
  readonly error: unknown
  /**
   * Says how the attempt went, in place of what follows from whether `work` throws: `{ neutral: true }` where it says
   * nothing of the node, `{ ok: false }` for a failure that is returned, `{ ok: true }` for an error that is no fault of the
   * node. An attempt is retried only where `work` throws and this, or by default the error, is a failure. Throws OptionError
   * if it is given something else.
   */
  readonly setOutcome: (outcome: Outcome) => void
  /** @internal */
  outcome: Outcome | undefined = undefined
  #signal: AbortSignal | undefined

  /** @internal */
  constructor(attempt: number, signal: AbortSignal | undefined, error: unknown) {
    this.attempt = attempt
    this.mode = attempt === 1 ? 'first' : 'retry'
    this.error = error
    this.#signal = signal
    this.setOutcome = (outcome) => {
      if (!isOutcome(outcome)) throw new OptionError('outcome', outcome, OUTCOME)
      this.outcome = outcome
    }
  }

  /** The signal that `run` was given; without one, a signal that never is aborted. */
  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal
    return this.#signal
  }
}

/** What is done with a node. */
export type Work<N extends NodeLike, R> = (node: N, call: RunCall) => R | Promise<R>

/** What picks the nodes of calls. */
export interface LeaseSource<N extends NodeLike> {
  /** The members' nodes. */
  readonly nodes: readonly N[]
  readonly retryBudget: RetryBudget
  acquire(options?: SelectOptions): Lease<N>
}

const MOST_ATTEMPTS = 10

const runOptions = options({
  exclude: v.optional(v.unknown()),
  key: v.optional(v.unknown()),
  signal: v.optional(v.custom<AbortSignal>(isSignal, 'an AbortSignal')),
  attempts: v.optional(whole(1, MOST_ATTEMPTS)),
})

function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value
}

// The whole check takes as long as the rest of a call, so it is made only where it will throw.
function checkRunOptions(given: RunOptions): void {
  let isRight = hasFields(given)
  for (const name in given) {
    if (name === 'attempts') isRight &&= isAttempts(given.attempts)
    else if (name === 'signal') isRight &&= given.signal === undefined || isSignal(given.signal)
    else if (name !== 'exclude' && name !== 'key') isRight = false
  }
  if (!isRight) checkOptions('run', given, runOptions)
}

function isAttempts(attempts: number | undefined): boolean {
  return attempts === undefined || (Number.isInteger(attempts) && attempts >= 1 && attempts <= MOST_ATTEMPTS)
}

/**
 * Picks a node, calls `work` with it and releases the node with the outcome. Where options ask for it, a failure is retried
 * on other nodes.
 */
export async function run<N extends NodeLike, R>(
  source: LeaseSource<N>,
  now: () => number,
  work: Work<N, R>,
  given: RunOptions | undefined,
): Promise<R> {
  if (typeof work !== 'function') throw new OptionError('work', work, 'a function')
  if (given !== undefined) checkRunOptions(given)
  const { signal, attempts = 1, ...rest } = given ?? {}
  const select = 'key' in rest || 'exclude' in rest ? rest : undefined
  signal?.throwIfAborted()
  source.retryBudget.earn()
  const tried: N[] = []
  let lease: Lease<N> | undefined = source.acquire(select)
  let error: unknown
  for (let attempt = 1; lease !== undefined; attempt++) {
    const call = new RunCall(attempt, signal, error)
    const start = now()
    try {
      const result = await work(lease.node, call)
      lease.release({ ok: true, latency: now() - start, ...call.outcome })
      return result
    } catch (thrown) {
      error = thrown
    }
    const outcome: Outcome = { ok: false, error, latency: now() - start, ...call.outcome }
    if (signal?.aborted === true) outcome.neutral = true
    lease.release(outcome)
    if (attempt >= attempts || !isRetried(outcome)) break
    tried.push(lease.node)
    lease = leaseElsewhere(source, select, tried, isNobodys(error))
  }
  throw error
}

/**
 * A lease for a request that failed, on another node; or, where the failure was not the node's, on the same one if there
 * is no other. Undefined where there is none, or the budget is used up.
 * @param tried the nodes on which it failed
 * @param isBlameless whether it was nobody's fault
 */
export function leaseElsewhere<N extends NodeLike>(
  source: LeaseSource<N>,
  select: SelectOptions | undefined,
  tried: readonly N[],
  isBlameless: boolean,
): Lease<N> | undefined {
  if (!isBlameless && source.nodes.length <= tried.length) return undefined
  if (!source.retryBudget.take()) return undefined
  return (
    tryAcquire(source, { ...select, exclude: [...(select?.exclude ?? []), ...tried] }) ??
    (isBlameless ? tryAcquire(source, select) : undefined) ??
    source.retryBudget.giveBack()
  )
}

// Nobody else may be picked: then what the last attempt failed with is passed on.
function tryAcquire<N extends NodeLike>(
  source: LeaseSource<N>,
  select: SelectOptions | undefined,
): Lease<N> | undefined {
  try {
    return source.acquire(select)
  } catch {
    return undefined
  }
}

function isRetried({ ok, error, neutral }: Outcome): boolean {
  return neutral !== true && isFailure(ok, error) && causeOf(error) !== 'aborted'
}

function isNobodys(error: unknown): boolean {
  const cause = causeOf(error)
  return cause === 'stale' || cause === 'unprocessed'
}
