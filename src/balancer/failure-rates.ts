import type { Clock, TimerHandle } from '../clock.js'
import type { Member } from './member.js'
import type { HealthSettings } from './trust-options.js'

export type FailureRateSettings = Exclude<HealthSettings['failureRate'], false>

export interface FailureRatesOptions {
  readonly settings: FailureRateSettings
  /** Time over which rates are taken, ms. */
  readonly interval: number
  readonly clock: Clock
  readonly members: () => Iterable<Member>
  /** Told of those that failed too often in an interval, the worst first: not all may be ejected. */
  readonly onFailing: (members: readonly Member[]) => void
}

/** How many leases of a member were released, and failed, that say something of it. */
export interface Count {
  readonly released: number
  readonly failed: number
}

/** The leases of a member that say something of it now. */
export function countOf({ released, failed, lateFailures }: Member): Count {
  return { released: released - lateFailures, failed: failed - lateFailures }
}

const NO_COUNT: Count = { released: 0, failed: 0 }

/** Finds members of which a large share of the leases fails, over intervals that begin with a failure. */
export class FailureRates {
  readonly #options: FailureRatesOptions
  // Counts at the start of the interval; undefined between two.
  #before: Map<Member, Count> | undefined
  #timer: TimerHandle

  constructor(options: FailureRatesOptions) {
    this.#options = options
  }

  /** Takes in that a lease of this member has failed, which its counts tell already. */
  failed(latest: Member): void {
    if (this.#before !== undefined) return
    const { clock, members, interval } = this.#options
    const before = new Map<Member, Count>()
    for (const member of members()) before.set(member, countOf(member))
    const { released, failed } = countOf(latest)
    before.set(latest, { released: released - 1, failed: failed - 1 })
    this.#before = before
    this.#timer = clock.setTimeout(() => this.#end(before), interval)
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#timer)
  }

  #end(before: ReadonlyMap<Member, Count>): void {
    this.#before = undefined
    const { members, settings, onFailing } = this.#options
    const judged: { readonly member: Member; readonly rate: number }[] = []
    for (const member of members()) {
      const { released, failed } = before.get(member) ?? NO_COUNT
      const now = countOf(member)
      const count = now.released - released
      if (count >= settings.minimum) judged.push({ member, rate: (now.failed - failed) / count })
    }
    if (judged.length < settings.members) return
    const failing = judged.filter(({ rate }) => rate >= settings.threshold)
    failing.sort((a, b) => b.rate - a.rate)
    onFailing(failing.map(({ member }) => member))
  }
}
