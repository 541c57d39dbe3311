import { type Algorithm, definitionOf, isWeighted, ttlOf, weightsOf } from '../algorithms/registry.js'
import { NOT_ELIGIBLE } from '../engine/engine.js'
import type { PollFailure } from '../poller/failures.js'
import type { KeptReport } from '../report.js'
import { inFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import { readReport } from '../table/report.js'
import { cpuOf, sampledAt, takenFor } from './figures.js'
import type { Member } from './member.js'
import type { NodeLike } from './node.js'
import type { EjectionReason, PassiveHealth } from './passive-health.js'
import { type MemberOrder, type MemberState, stateOf, type Told } from './standings.js'
import type { Suspicion, SuspicionReason } from './suspicion.js'

/** How a member is ejected. */
export interface EjectionSnapshot {
  /** `elsewhere`: by the balancer's own thread, of a balancer that is attached to it. */
  readonly reason: EjectionReason | 'elsewhere'
  /** How many times in all, but for those that it was forgiven; undefined where it was elsewhere. */
  readonly times: number | undefined
  /** Time until it returns, ms; undefined where it was elsewhere. */
  readonly remaining: number | undefined
}

/** What a balancer knows of one member. */
export interface NodeSnapshot<N extends NodeLike = NodeLike> {
  /** The node, as it was given. */
  readonly node: N
  /** The node's id. */
  readonly id: string
  /** The gravest of what this process ordered and what the node told; by weight 0 it drains. */
  readonly state: MemberState
  /** What this process ordered: `drain` after `balancer.drain`. */
  readonly order: MemberOrder
  /** Its weight in the algorithm's own weights; undefined where the algorithm has none. */
  readonly fixedWeight: number | undefined
  /** What the node told of itself last. */
  readonly told: Told
  /** Why it is sent no more for a while, where its requests failed; undefined where it is not so. */
  readonly ejected: EjectionSnapshot | undefined
  /**
   * Why it gets half of its share: it claims to be idle while its requests fail or slow down. `elsewhere`: the balancer's
   * own thread found that, of a balancer that is attached to it.
   */
  readonly suspect: SuspicionReason | 'elsewhere' | undefined
  /** Whether it refused polls, or did not answer them, several in a row: see `health.polls`. */
  readonly unreachable: boolean
  /**
   * Whether it is in reserve: a discovery gave it a higher `priority` number than others that are up, or that are used in
   * spite of being down or ejected.
   */
  readonly isReserve: boolean
  /** Its part of the picks by weights of a discovery, 0 (never picked) to 1, which the largest has; 1 where there are none. */
  readonly part: number
  /** Whether it has had its `maxShare` of the last picks, so that the next one is another. */
  readonly isCapped: boolean
  /** How polling it failed in the last cycle; undefined where it did not, or it is not polled. */
  readonly poll: PollFailure | undefined
  /** CPU of the reading in percent, however old; undefined where there is none. */
  readonly cpu: number | undefined
  /** Age of the sample that the algorithm goes by, ms: for `powerOfTwo` the metric's, else the CPU's. Undefined where there is none. */
  readonly age: number | undefined
  /** Whether that sample counts: its age is at most the algorithm's `ttl`. Always false where it has none. */
  readonly fresh: boolean
  /**
   * What `leastCpu` and `spareCapacity` take the node's CPU for, percent; for `powerOfTwo` the metric's value, by
   * `'inFlight'` the larger of that and what this process has there. Undefined where the node can't be picked, nothing
   * is known, or the algorithm is another.
   */
  readonly effective: number | undefined
  /** For `adaptive`: response time to expect for each request there, ms, and 0.5 that each takes of this process. */
  readonly cost: number | undefined
  /** What `weightedRoundRobin` takes the node's weight for; undefined where it is not known, which counts as the mean. */
  readonly weight: number | undefined
  /** Whether it may be picked now. */
  readonly inBand: boolean
  /**
   * The chance that the next draw is this node, 0-1, before weights, limits and `maxShare`; for `roundRobin` its part of a whole turn. For those that go by
   * requests in flight, what it would be where all have as many.
   */
  readonly share: number
  /** What the table keeps of the node's reports, however old each part is, in single precision. */
  readonly report: Readonly<KeptReport>
  /** Requests in flight by this process, over all balancers and threads of the table. */
  readonly inFlight: number
  /** Picks by this balancer since it became a member. */
  readonly picks: number
  /** Releases of its leases, but for neutral ones. */
  readonly released: number
  /** Those of them that told of a failure. */
  readonly failed: number
  /** Mean of the latencies told at release, ms; undefined where none was. */
  readonly latency: number | undefined
}

export interface SnapshotOptions {
  /** What members count as, by index. */
  readonly values: Float64Array
  readonly shares: Float64Array
  readonly algorithm: Algorithm
  readonly memory: TableMemory
  /** Table time, ms. */
  readonly now: number
  /** Clock time, ms. */
  readonly clockTime: number
  readonly isCapped: (index: number) => boolean
  /** The tier that is picked from. */
  readonly tier: number
  readonly watchers: Watchers
}

/** What looks at how members do, where something does. */
export interface Watchers {
  readonly health: PassiveHealth | undefined
  readonly suspicion: Suspicion | undefined
  /** How polling a member failed last. */
  readonly failureOf: (member: Member) => PollFailure | undefined
}

function ejectionOf(
  member: Member,
  { watchers, clockTime }: Pick<SnapshotOptions, 'watchers' | 'clockTime'>,
): EjectionSnapshot | undefined {
  const ejection = watchers.health?.of(member)
  if (ejection !== undefined) {
    const { reason, times, until } = ejection
    return { reason, times, remaining: Math.max(0, until - clockTime) }
  }
  if (!member.ejectedThere) return undefined
  return { reason: 'elsewhere', times: undefined, remaining: undefined }
}

/** Members that are looked at in parts, each when it is asked for. */
export interface SnapshotParts<N extends NodeLike> {
  /** How many members there are. */
  readonly size: number
  /** Those from one index to before another. */
  part(from: number, to: number): NodeSnapshot<N>[]
}

/** Puts together what is known of the members from one index to before another. */
export function snapshotOf<N extends NodeLike>(
  members: readonly Member<N>[],
  options: SnapshotOptions,
  from: number,
  to: number,
): NodeSnapshot<N>[] {
  const { values, shares, algorithm, memory, now, isCapped, tier, watchers } = options
  const ttl = ttlOf(algorithm)
  const { shows } = definitionOf(algorithm)
  const isCost = shows === 'cost'
  const weightOf = isWeighted(algorithm) ? weightsOf(algorithm) : undefined
  const isWeighed = shows === 'weight'
  return members.slice(from, to).map((member, k) => {
    const i = from + k
    const sampled = sampledAt(algorithm, memory, member)
    const value = values[i] as number
    const age = sampled === undefined ? undefined : Math.max(0, now - sampled)
    const share = shares[i] as number
    return {
      node: member.node,
      id: member.id,
      state: stateOf(member),
      order: member.order,
      fixedWeight: weightOf?.(member.key),
      told: { ...member.told },
      ejected: ejectionOf(member, options),
      unreachable: member.unreachable || member.unreachableThere,
      suspect: watchers.suspicion?.of(member) ?? (member.suspectThere ? 'elsewhere' : undefined),
      isReserve: member.tier !== tier,
      part: member.part,
      isCapped: isCapped(i),
      poll: watchers.failureOf(member),
      cpu: cpuOf(memory, member),
      age,
      fresh: age !== undefined && ttl !== undefined && age <= ttl,
      weight: isWeighed && value > 0 && value !== NOT_ELIGIBLE ? value : undefined,
      effective: isCost ? undefined : takenFor(algorithm, memory, member, value),
      cost: value !== NOT_ELIGIBLE && isCost ? value : undefined,
      inBand: share > 0,
      share,
      report: readReport(memory, member.slot, member.generation),
      inFlight: inFlight(memory, member.slot, member.generation),
      picks: member.picks,
      released: member.released,
      failed: member.failed,
      latency: member.latencyCount === 0 ? undefined : member.latencySum / member.latencyCount,
    }
  })
}
