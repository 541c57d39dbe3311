import type { Clock, TimerHandle } from '../clock.js'
import { publishEjected, publishReturned } from '../telemetry.js'
import { type Count, countOf, FailureRates } from './failure-rates.js'
import type { LeaseHealth } from './lease.js'
import type { Member } from './member.js'
import { EJECTED, type Standings, WELL } from './standings.js'
import type { HealthSettings } from './trust-options.js'

/** Why a member is ejected. */
export type EjectionReason = 'consecutiveFailures' | 'failureRate' | 'refused'

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
  /** Times that a member was kept: too many were out, or most of the others failed too. */
  readonly spared: number
  /** Times that all came back at once, since most of those that were left failed. */
  readonly recalled: number
  /** Whether members that are down or ejected are picked now, since all are that were not ordered out. */
  readonly isOpen: boolean
  /** How many times it came to that. */
  readonly timesOpen: number
}

/** The members as health sees them. */
export interface HealthMembers {
  readonly standings: Pick<Standings, 'willing' | 'count' | 'hasReserve'>
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
  /** The leases that it had then, where it was out since it refused connections. */
  readonly refusing: Count | undefined
}

/** Failures in a row that count as many where none are a reason: the default of `consecutiveFailures`. */
const FAILURES = 5

/**
 * Passive health: ejects members by what becomes of their leases, for a time that grows with each time and shrinks again
 * while they are well. The way is that of Envoy's outlier detection; but members are ejected, and stay so, only while most
 * of the others do not fail: where all have too much to do, others would have the more. A success costs nothing here: failures are told, and
 * all else is worked out when one comes.
 *
 * A member whose connections are refused does no work, so this is no overload: it is ejected whatever the others do, and
 * counts as down. It returns after the same time each time, and is out again with the first request that is refused. Where
 * nobody else is left all are tried, and the first answer of a member brings it back.
 */
export class PassiveHealth implements LeaseHealth {
  readonly counters = { ejections: 0, returned: 0, spared: 0, recalled: 0 }
  readonly #options: PassiveHealthOptions
  readonly #ejections = new Map<Member, Ejection>()
  readonly #records = new WeakMap<Member, Past>()
  #timer: TimerHandle
  readonly #rates: FailureRates | undefined
  // Failures in a row from which on a member counts as failing where it is asked whether most do.
  readonly #few: number
  // Until then nobody is ejected: most failed.
  #calmUntil = Number.NEGATIVE_INFINITY

  constructor(options: PassiveHealthOptions) {
    this.#options = options
    const { settings, clock, members } = options
    const { failureRate, interval, consecutiveFailures } = settings
    this.#few = Math.ceil((consecutiveFailures || FAILURES) / 2)
    if (failureRate === false) return
    this.#rates = new FailureRates({
      settings: failureRate,
      interval,
      clock,
      members: () => members.all(),
      onFailing: (failing) => this.#eject(failing, 'failureRate'),
    })
  }

  /** Why and until when a member is ejected. */
  of(member: Member): Ejection | undefined {
    return this.#ejections.get(member)
  }

  failed(member: Member): void {
    const { settings, members } = this.#options
    if (members.find(member.id) !== member) return
    if (member.ejected) {
      // A failure of another kind is an answer, or at least a connection.
      if (member.refusals === 0) this.recovered(member)
      return
    }
    this.#rates?.failed(member)
    if (member.refusals > 0) {
      if (this.#isGone(member)) this.#eject([member], 'refused')
      return
    }
    if (
      member.streak === this.#few &&
      this.#recallable().length > 0 &&
      this.#doMostFail(this.#few, member.tier)
    ) {
      this.#recall()
      return
    }
    // Not at each further one: to look at all the others takes its time.
    if (member.streak % settings.consecutiveFailures === 0) this.#eject([member], 'consecutiveFailures')
  }

  /** Takes a member back that was out since it refused connections: it does so no longer. */
  recovered(member: Member): void {
    if (this.#ejections.get(member)?.reason === 'refused') this.#bringBack([member])
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
      if (member.refused || members.standings.count(EJECTED, member.tier) <= this.#most(member.tier)) continue
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
    this.#rates?.close()
  }

  // Whether it has refused as many connections in a row as may fail, or the first ones since it came back.
  #isGone(member: Member): boolean {
    const { consecutiveFailures } = this.#options.settings
    if (consecutiveFailures === 0) return false
    if (member.streak >= consecutiveFailures) return true
    const refusing = this.#records.get(member)?.refusing
    if (refusing === undefined) return false
    const now = countOf(member)
    return now.released - refusing.released === now.failed - refusing.failed
  }

  #isFull(tier: number): boolean {
    return this.#options.members.standings.count(EJECTED, tier) >= this.#most(tier)
  }

  // Whether most of the others have failed so often in a row: then it is nobody's own fault, as where all have too much to
  // do. With fewer to do it they would fail all the more, unless there are others in reserve.
  #doMostFail(few: number, tier: number, but?: Member): boolean {
    const { members } = this.#options
    if (members.standings.hasReserve(tier)) return false
    let failing = 0
    let others = 0
    for (const member of members.all()) {
      if (member === but || member.grade !== WELL || member.tier !== tier || member.refusals > 0) continue
      others++
      if (member.streak >= few) failing++
    }
    return failing > others / 2
  }

  // Takes all back that accept connections, and for the time of an ejection takes no such out.
  #recall(): void {
    const { settings, clock } = this.#options
    this.#calmUntil = clock.now() + settings.ejection
    this.counters.recalled++
    this.#bringBack(this.#recallable())
  }

  #recallable(): Member[] {
    return [...this.#ejections.keys()].filter(({ refused }) => !refused)
  }

  #bringBack(returned: readonly Member[]): void {
    for (const member of returned) this.#takeBack(member)
    this.#arm()
    this.#options.onChange(returned)
    this.told(returned)
  }

  // How many of a tier may be out at once: of those that would be picked if none were. All, where there is a reserve.
  #most(tier: number): number {
    const { settings, members } = this.#options
    const willing = members.standings.willing(tier)
    if (settings.maxEjected === 0) return 0
    if (members.standings.hasReserve(tier)) return willing
    return Math.max(Math.floor(willing * settings.maxEjected), willing < 2 ? 0 : 1)
  }

  #eject(failing: readonly Member[], reason: EjectionReason): void {
    const { members, clock, onChange, name: balancer } = this.#options
    const now = clock.now()
    const ejected: Member[] = []
    for (const member of failing) {
      // Who is out for another reason gets no work anyway, or all do.
      if (member.ejected || member.grade !== WELL) continue
      const refused = member.refusals > 0
      if (this.#isSpared(member, refused, now)) {
        this.counters.spared++
        continue
      }
      this.#ejections.set(member, this.#ejectionOf(member, refused ? 'refused' : reason, now))
      member.ejected = true
      member.refused = refused
      member.era++
      members.update(member)
      this.counters.ejections++
      ejected.push(member)
    }
    if (ejected.length === 0) return
    this.#arm()
    onChange(ejected)
    for (const member of ejected) {
      const ejection = this.#ejections.get(member) ?? { reason, times: 0, until: now }
      const { times, until } = ejection
      publishEjected({ balancer, node: member.id, reason: ejection.reason, times, duration: until - now })
    }
  }

  #isSpared(member: Member, refused: boolean, now: number): boolean {
    if (refused) return this.#options.settings.maxEjected === 0
    const { tier } = member
    return now < this.#calmUntil || this.#isFull(tier) || this.#doMostFail(1, tier, member)
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
    // To try one that refuses costs a refusal, and it may be back at any time.
    if (reason === 'refused') return { reason, times, until: now + ejection }
    return { reason, times, until: now + Math.min(ejection * times, longest) }
  }

  #takeBack(member: Member): void {
    const { clock, members } = this.#options
    const { times = 0, reason } = this.#ejections.get(member) ?? {}
    const isRefusal = reason === 'refused'
    this.#records.set(member, {
      times: isRefusal ? times - 1 : times,
      since: clock.now(),
      refusing: isRefusal ? countOf(member) : undefined,
    })
    this.#ejections.delete(member)
    member.ejected = false
    member.refused = false
    member.streak = 0
    member.refusals = 0
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
    const now = this.#options.clock.now()
    const returned = [...this.#ejections].flatMap(([member, { until }]) => (until <= now ? [member] : []))
    if (returned.length > 0) this.#bringBack(returned)
    else this.#arm()
  }
}
