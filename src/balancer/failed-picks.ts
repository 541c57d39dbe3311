import { NO_ONE, unknownDraw } from '../engine/engine.js'
import { type IdlestError, NoNodesError, UnknownLoadError } from '../errors.js'
import { publishEmptySelect } from '../telemetry.js'
import { idOf, type NodeLike } from './node.js'
import type { PickCounters } from './pick-counters.js'

export interface FailedPicksOptions {
  /** The balancer's. */
  readonly name: string
  readonly counters: Pick<PickCounters, 'empty' | 'unknown'>
  /** How many members there are. */
  readonly members: () => number
}

/** Counts picks that gave nothing, and says why. */
export class FailedPicks {
  readonly #options: FailedPicksOptions
  #unknown: NodeLike | undefined

  constructor(options: FailedPicksOptions) {
    this.#options = options
  }

  /** Keeps whom a draw names that failed for want of a load, where it is one: for the next `take`. */
  note(draw: number, from: readonly NodeLike[]): void {
    if (draw < NO_ONE) this.#unknown = from[unknownDraw(draw)]
  }

  /** Counts a pick that gave nothing. Returns its error. */
  take(): IdlestError {
    const { name, counters, members } = this.#options
    const unknown = this.#unknown
    this.#unknown = undefined
    if (unknown !== undefined) {
      counters.unknown++
      return new UnknownLoadError(idOf(unknown))
    }
    counters.empty++
    publishEmptySelect(name, members())
    return new NoNodesError()
  }

  /** Counts the draws that failed for want of a load, and makes them `NO_ONE`. Returns the first one's error. */
  takeAll(draws: Uint32Array, count: number, from: readonly NodeLike[]): IdlestError | undefined {
    let first: IdlestError | undefined
    for (let i = 0; i < count; i++) {
      const draw = (draws[i] as number) | 0
      if (draw >= 0) continue
      this.note(draw, from)
      const error = this.take()
      first ??= error
      draws[i] = NO_ONE
    }
    return first
  }
}
