import type { Clock, TimerHandle } from '../clock.js'
import { publishEjected, publishReturned } from '../telemetry.js'
import type { Member } from './members.js'
import { EJECTED, type Standings, WELL } from './standings.js'
import type { HealthSettings } from './trust-options.js'

/** Why a member is ejected. */
export type EjectionReason = 'consecutiveFailures' | 'failureRate'

/** A member that is ejected. */
export interface Ejection {
  readonly reason: EjectionReason
  /** How many times in all, but for those that it was forgiven. */
  readonly times: number
  /** Clock time at which it returns, ms. */
  readonly until: number
}

/** What became of members' health. */
export interface HealthCounters {
  /** Members that are ejected now. */
  readonly ejected: number
  /** Ejections so far. */
  readonly ejections: number
  /** Members that came back so far. */
  readonly returned: number
  /** Times that a member was kept since too many were out. */
  readonly spared: number
  /** Whether members that are down or ejected are picked now, since all are that were not ordered out. */
  readonly isOpen: boolean
  /** How many times it came to that. */
  readonly timesOpen: number
}

/** The members as health sees them. */
export interface HealthMembers {
  readonly standings: Pick<Standings, 'willing' | 'count'>
  all(): Iterable<Member>
  find(id: string): Member | undefined
  /** Takes in what was changed of a member's standing. */
  update(member: Member): void
}

export interface PassiveHealthOptions {
  readonly settings: HealthSettings
  /** The balancer's. */
  readonly name: string
  readonly clock: Clock
  readonly members: HealthMembers
  /** Called after these members were ejected or came back. */
  readonly onChange: (members: readonly Member[]) => void
}

// Of members that are back: how many times they were ejected, and since when they are back.
interface Past {
  readonly times: number
  readonly since: number
}

interface Count {
  readonly released: number
  readonly failed: number
}

const NO_COUNT: Count = { released: 0, failed: 0 }

/**
 * Passive health: ejects members by what becomes of their leases, for a time that grows with each time and shrinks again
 * while they are well. The way is that of Envoy's outlier detection. A success costs nothing here: failures are told, and
 * all else is worked out when one comes.
 */
export class PassiveHealth {
  readonly counters = { ejections: 0, returned: 0, spared: 0 }
  readonly #options: PassiveHealthOptions
  readonly #ejections = new Map<Member, Ejection>()
  readonly #records = new WeakMap<Member, Past>()
  #timer: TimerHandle
  // Counts at the start of the interval over which failure rates are taken; undefined between such.
  #before: Map<Member, Count> | undefined
  #intervalTimer: TimerHandle

  constructor(options: PassiveHealthOptions) {
    this.#options = options
  }

  /** Why and until when a member is ejected. */
  of(member: Member): Ejection | undefined {
    return this.#ejections.get(member)
  }

  /** Takes in that a lease has failed; `member.streak` counts it already. */
  failed(member: Member): void {
    const { settings, members } = this.#options
    // What was under way when it was ejected tells nothing new.
    if (member.ejected || members.find(member.id) !== member) return
    if (settings.failureRate !== false && this.#before === undefined) this.#startInterval(member)
    const { consecutiveFailures } = settings
    if (consecutiveFailures > 0 && member.streak >= consecutiveFailures) {
      this.#eject([member], 'consecutiveFailures')
    }
  }

  /**
   * Takes in that the members have changed: who has left is forgotten, and where too many are out now the first to return
   * does so. Call `told` with what this returns once the change is complete.
   */
  membersChanged(): readonly Member[] {
    if (this.#ejections.size === 0) return []
    const { members } = this.#options
    for (const member of this.#ejections.keys()) {
      if (members.find(member.id) !== member) this.#ejections.delete(member)
    }
    const inOrder = [...this.#ejections].sort(([, a], [, b]) => a.until - b.until)
    const returned: Member[] = []
    for (const [member] of inOrder) {
      if (members.standings.count(EJECTED) <= this.#most) break
      this.#takeBack(member)
      returned.push(member)
    }
    this.#arm()
    return returned
  }

  /** Tells of members that came back. */
  told(returned: readonly Member[]): void {
    const { name: balancer } = this.#options
    for (const { id: node } of returned) publishReturned({ balancer, node })
  }

  close(): void {
    const { clock } = this.#options
    this.#ejections.clear()
    clock.clearTimeout(this.#timer)
    clock.clearTimeout(this.#intervalTimer)
  }

  // How many may be out at once: of those that would be picked if none were.
  get #most(): number {
    const { settings, members } = this.#options
    const { willing } = members.standings
    if (settings.maxEjected === 0) return 0
    return Math.max(Math.floor(willing * settings.maxEjected), willing < 2 ? 0 : 1)
  }

  #eject(failing: readonly Member[], reason: EjectionReason): void {
    const { members, clock, onChange, name: balancer } = this.#options
    const now = clock.now()
    const ejected: Member[] = []
    for (const member of failing) {
      // Who is out for another reason gets no work anyway, or all do.
      if (member.ejected || member.grade !== WELL) continue
      if (members.standings.count(EJECTED) >= this.#most) {
        this.counters.spared++
        continue
      }
      this.#ejections.set(member, this.#ejectionOf(member, reason, now))
      member.ejected = true
      member.streak = 0
      members.update(member)
      this.counters.ejections++
      ejected.push(member)
    }
    if (ejected.length === 0) return
    this.#arm()
    onChange(ejected)
    for (const member of ejected) {
      const { times, until } = this.#ejections.get(member) ?? { times: 0, until: now }
      publishEjected({ balancer, node: member.id, reason, times, duration: until - now })
    }
  }

  #ejectionOf(member: Member, reason: EjectionReason, now: number): Ejection {
    const { interval, ejection, maxEjection } = this.#options.settings
    const longest = Math.max(ejection, maxEjection)
    const record = this.#records.get(member)
    // One time is forgiven for each interval that it was well.
    const before =
      record === undefined ? 0 : Math.max(0, record.times - Math.floor((now - record.since) / interval))
    // Beyond the longest time there is nothing to count, or it would take as many intervals to be forgiven.
    const times = Math.min(before + 1, Math.ceil(longest / ejection))
    return { reason, times, until: now + Math.min(ejection * times, longest) }
  }

  #takeBack(member: Member): void {
    const { clock, members } = this.#options
    const times = this.#ejections.get(member)?.times ?? 0
    this.#records.set(member, { times, since: clock.now() })
    this.#ejections.delete(member)
    member.ejected = false
    member.streak = 0
    members.update(member)
    this.counters.returned++
  }

  // One timer, for whoever returns first.
  #arm(): void {
    const { clock } = this.#options
    clock.clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#ejections.size === 0) return
    const first = Math.min(...[...this.#ejections.values()].map(({ until }) => until))
    this.#timer = clock.setTimeout(() => this.#return(), Math.max(0, first - clock.now()))
  }

  #return(): void {
    const { clock, onChange } = this.#options
    const now = clock.now()
    const returned = [...this.#ejections].flatMap(([member, { until }]) => (until <= now ? [member] : []))
    for (const member of returned) this.#takeBack(member)
    this.#arm()
    if (returned.length === 0) return
    onChange(returned)
    this.told(returned)
  }

  // Counts as they were before this member's failure, which has been counted.
  #startInterval(failed: Member): void {
    const { clock, members, settings } = this.#options
    const before = new Map<Member, Count>()
    for (const member of members.all()) before.set(member, countOf(member))
    before.set(failed, { released: failed.released - 1, failed: failed.failed - 1 })
    this.#before = before
    this.#intervalTimer = clock.setTimeout(() => this.#endInterval(), settings.interval)
  }

  #endInterval(): void {
    const { members, settings } = this.#options
    const before = this.#before
    this.#before = undefined
    if (before === undefined || settings.failureRate === false) return
    const { threshold, minimum, members: fewest } = settings.failureRate
    const judged: { member: Member; rate: number }[] = []
    for (const member of members.all()) {
      const { released, failed } = before.get(member) ?? NO_COUNT
      const count = member.released - released
      if (count >= minimum) judged.push({ member, rate: (member.failed - failed) / count })
    }
    if (judged.length < fewest) return
    const failing = judged.filter(({ rate }) => rate >= threshold)
    // The worst first: not all may be ejected.
    failing.sort((a, b) => b.rate - a.rate)
    this.#eject(
      failing.map(({ member }) => member),
      'failureRate',
    )
  }
}

function countOf({ released, failed }: Member): Count {
  return { released, failed }
}
