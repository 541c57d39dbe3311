import type { Algorithm } from '../algorithms/registry.js'
import { definitionOf, ttlOf } from '../algorithms/registry.js'
import { DEFAULT_TTL } from '../algorithms/ttl.js'
import type { Clock } from '../clock.js'
import type { TableMemory } from '../table/memory.js'
import { tableTime } from '../table/table.js'
import { publishSuspect } from '../telemetry.js'
import { countOf } from './failure-rates.js'
import { claimOf } from './figures.js'
import type { Member } from './member.js'
import type { SuspicionSettings } from './trust-options.js'

/** What a node that claims idleness does: its requests fail, or slow down. */
export type SuspicionReason = 'failing' | 'slow'

/** What became of suspicions. */
export interface SuspicionCounters {
  /** Members that are suspect now. */
  readonly suspects: number
  /** Times that a member became suspect. */
  readonly suspected: number
  /** Times that one was so no longer. */
  readonly cleared: number
}

export interface SuspicionOptions {
  readonly settings: SuspicionSettings
  /** The balancer's. */
  readonly name: string
  readonly clock: Clock
  readonly memory: TableMemory
  readonly algorithm: Algorithm
  readonly members: { all(): Iterable<Member>; update(member: Member): void }
  /** Called after these members became suspect, or are so no longer. */
  readonly onChange: (members: readonly Member[]) => void
}

/** Looks at what members claim, in a window. */
const LOOKS = 5

// What a member's leases came to, since it is a member or in a window.
interface Tally {
  readonly released: number
  readonly failed: number
  readonly latencySum: number
  readonly latencyCount: number
}

const NOTHING: Tally = { released: 0, failed: 0, latencySum: 0, latencyCount: 0 }

interface Judged {
  readonly member: Member
  readonly tally: Tally
}

/**
 * Finds members that claim to be idle, by reports no higher than those of half of the members, while their requests fail
 * or slow down and the others' do not. Who claims that only now and then is busy in between: reports are old where many
 * requests follow them. Judged once a window, from counts that are kept anyway.
 */
export class Suspicion {
  readonly counters = { suspected: 0, cleared: 0 }
  readonly #options: SuspicionOptions
  readonly #reasons = new WeakMap<Member, SuspicionReason>()
  #before = new Map<Member, Tally>()
  // Those that did not claim to be idle all the time in this window.
  #busy = new Set<Member>()
  #since = Number.NEGATIVE_INFINITY
  #nextLook = Number.NEGATIVE_INFINITY

  constructor(options: SuspicionOptions) {
    this.#options = options
  }

  /** Why this thread suspects a member. */
  of(member: Member): SuspicionReason | undefined {
    return member.suspect ? this.#reasons.get(member) : undefined
  }

  /** Looks what members claim, now and then; at the end of a window judges by what happened in it. */
  look(): void {
    const { clock, settings } = this.#options
    const now = clock.now()
    if (now < this.#nextLook) return
    this.#nextLook = now + settings.window / LOOKS
    this.#noteBusy(now)
    if (now - this.#since < settings.window) return
    const isFirst = this.#since === Number.NEGATIVE_INFINITY
    this.#since = now
    const judged = this.#tallies()
    if (!isFirst) this.#judge(judged)
    this.#busy = new Set()
    this.#noteBusy(now)
  }

  #noteBusy(now: number): void {
    const { memory, algorithm, members } = this.#options
    const oldest = tableTime(memory, now) - (ttlOf(algorithm) ?? DEFAULT_TTL)
    const claims = new Map<Member, number>()
    for (const member of members.all()) {
      const claim = member.up ? claimOf(algorithm, memory, member, oldest) : undefined
      if (claim !== undefined) claims.set(member, claim)
      else this.#busy.add(member)
    }
    const idle = median([...claims.values()])
    for (const [member, claim] of claims) if (claim > idle) this.#busy.add(member)
  }

  #tallies(): Judged[] {
    const before = this.#before
    this.#before = new Map()
    const judged: Judged[] = []
    for (const member of this.#options.members.all()) {
      const tally = tallyOf(member)
      this.#before.set(member, tally)
      judged.push({ member, tally: since(before.get(member), tally) })
    }
    return judged
  }

  #judge(judged: readonly Judged[]): void {
    const { members, onChange, name: balancer } = this.#options
    const changed: Member[] = []
    for (const one of judged) {
      const { member } = one
      const reason = this.#busy.has(member) ? undefined : this.#reasonOf(one, judged)
      if (reason !== undefined) this.#reasons.set(member, reason)
      if (member.suspect === (reason !== undefined)) continue
      member.suspect = reason !== undefined
      if (member.suspect) this.counters.suspected++
      else this.counters.cleared++
      members.update(member)
      changed.push(member)
    }
    if (changed.length === 0) return
    onChange(changed)
    for (const member of changed) {
      publishSuspect({ balancer, node: member.id, suspect: member.suspect, reason: this.of(member) })
    }
  }

  #reasonOf(one: Judged, judged: readonly Judged[]): SuspicionReason | undefined {
    if (one.tally.released < this.#options.settings.minimum) return undefined
    if (this.#isFailing(one, judged)) return 'failing'
    return this.#isSlow(one, judged) ? 'slow' : undefined
  }

  #isFailing({ member, tally }: Judged, judged: readonly Judged[]): boolean {
    const { failureRate, minimum } = this.#options.settings
    if (tally.failed / tally.released < failureRate) return false
    let released = 0
    let failed = 0
    for (const other of judged) {
      if (other.member === member) continue
      released += other.tally.released
      failed += other.tally.failed
    }
    return released >= minimum && failed / released < failureRate / 2
  }

  #isSlow({ member, tally }: Judged, judged: readonly Judged[]): boolean {
    const { settings, algorithm } = this.#options
    const { slowdown, minimum } = settings
    // One that learns from responses knows how slow it is, and that a node that is only far away is no worse for it.
    if (definitionOf(algorithm).learns === true || tally.latencyCount < minimum) return false
    const others = judged.flatMap(({ member: other, tally }) =>
      other === member || tally.latencyCount < minimum ? [] : meanOf(tally),
    )
    return others.length > 0 && meanOf(tally) >= slowdown * median(others)
  }
}

function tallyOf(member: Member): Tally {
  const { latencySum, latencyCount } = member
  return { ...countOf(member), latencySum, latencyCount }
}

function since(before: Tally = NOTHING, now: Tally): Tally {
  return {
    released: now.released - before.released,
    failed: now.failed - before.failed,
    latencySum: now.latencySum - before.latencySum,
    latencyCount: now.latencyCount - before.latencyCount,
  }
}

function meanOf({ latencySum, latencyCount }: Tally): number {
  return latencySum / latencyCount
}

/** The middle one, or the mean of the two in the middle; NaN of none. */
function median(values: number[]): number {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] as number
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}
