import type { Clock, TimerHandle } from '../clock.js'
import { warn } from '../warn.js'

/** Nodes that get a warning each within `TOGETHER`; those after them share one. */
const MOST_ALONE = 3
/** How long later warnings are held back so that they can be given together, ms. */
const TOGETHER = 10_000

/** What is wrong with the reports in a node's responses. */
export interface InBandProblem {
  readonly node: string
  /** The header that carried the report. */
  readonly header: string
  /** What is wrong, in words. */
  readonly reason: string
}

/**
 * Gives process warnings of reports in responses. The first nodes get one each. If more nodes follow within 10 s, one warning
 * at the end of that time is about all of them.
 */
export class InBandWarnings {
  readonly #balancer: string
  readonly #clock: Clock
  #alone = 0
  #later: InBandProblem[] = []
  #timer: TimerHandle | undefined

  constructor(balancer: string, clock: Clock) {
    this.#balancer = balancer
    this.#clock = clock
  }

  /** Warns of a problem, now or together with others. */
  add(problem: InBandProblem): void {
    this.#timer ??= this.#clock.setTimeout(() => this.flush(), TOGETHER)
    if (this.#alone++ < MOST_ALONE) this.#warn([problem])
    else this.#later.push(problem)
  }

  /** Gives the warnings that are held back. */
  flush(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#alone = 0
    const later = this.#later
    this.#later = []
    this.#warn(later)
  }

  #warn(problems: readonly InBandProblem[]): void {
    const [first] = problems
    if (first === undefined) return
    const named = problems
      .slice(0, MOST_ALONE)
      .map(({ node, header, reason }) => `node ${JSON.stringify(node)} (${header}): ${reason}`)
      .join('; ')
    const text =
      problems.length === 1
        ? `a report in a response of ${named}`
        : `reports in responses of ${problems.length} more nodes, such as ${named}`
    warn(`${this.#balancer}: ${text}`, 'IDLEST_REPORT_ERROR')
  }
}
