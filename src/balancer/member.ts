import type { NodeLike } from './node.js'
import { type Standing, type Told, WELL } from './standings.js'

/** Where a member's readings and counts are in the table. */
export interface Place {
  readonly id: string
  readonly slot: number
  readonly generation: number
}

/** A node that one balancer may pick. */
export interface Member<N extends NodeLike = NodeLike> extends Place, Standing {
  /** The element that was given last. */
  node: N
  readonly place: Place
  /** As of the last look at the list. */
  index: number
  /** Picks since it became a member, but for those of the current block. */
  picks: number
  /** Leases of this balancer that are not released. */
  open: number
  /** Of these, leases of the last epoch, older ones, and those that were overtaken: see `LeaseLearning`. */
  earlier: number
  old: number
  aside: number
  /** What `released` was when the epoch began, and when no lease was old. */
  releasedAtEpoch: number
  releasedBefore: number
  /** Leases released since it became a member, but for those that said nothing of it, and how they went. */
  released: number
  failed: number
  /** Leases that failed since the last that did not. */
  streak: number
  /** How many of these, up to the last one, failed since nothing accepts connections there. */
  refusals: number
  /** How many times it was ejected, here or by the balancer's own thread. */
  era: number
  /** Leases that began in an earlier era and failed: they are in `released` and `failed`, and count for nothing else. */
  lateFailures: number
  /** Sum of the latencies told at release, ms, and how many there were. */
  latencySum: number
  latencyCount: number
}

const NOTHING_TOLD: Told = { state: undefined, weight: undefined, maxInFlight: undefined }

/** A member that has done nothing yet. */
export function newMember<N extends NodeLike>(node: N, key: string, place: Place): Member<N> {
  return {
    id: place.id,
    key,
    slot: place.slot,
    generation: place.generation,
    node,
    place,
    index: -1,
    order: 'up',
    told: NOTHING_TOLD,
    ejected: false,
    ejectedThere: false,
    refused: false,
    refusedThere: false,
    suspect: false,
    suspectThere: false,
    unreachable: false,
    unreachableThere: false,
    tier: 0,
    part: 1,
    grade: WELL,
    up: true,
    factor: 1,
    guarded: false,
    picks: 0,
    open: 0,
    earlier: 0,
    old: 0,
    aside: 0,
    releasedAtEpoch: 0,
    releasedBefore: 0,
    released: 0,
    failed: 0,
    streak: 0,
    refusals: 0,
    era: 0,
    lateFailures: 0,
    latencySum: 0,
    latencyCount: 0,
  }
}
