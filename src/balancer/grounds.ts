import type { Rules } from './reasons.js'
import type { NodeSnapshot } from './snapshot.js'

/** Why a member may be picked now, with the numbers that decide how often. CPU and thresholds are percent. */
export type Grounds =
  /** No member has a fresh report, and the algorithm goes by these: all have even chances. */
  | { readonly code: 'even' }
  /** It is busy no more than the band reaches. */
  | {
      readonly code: 'band'
      readonly load: number
      readonly least: number
      readonly threshold: number
      /** Whether it is only taken for that: it has no fresh report. */
      readonly isAssumed: boolean
    }
  /** It has CPU to spare; undefined: it has no fresh report, and counts as the mean. */
  | { readonly code: 'spare'; readonly cpu: number | undefined }
  /** By the time that a request there is expected to take, ms; where nothing was learned, what the algorithm starts from. */
  | { readonly code: 'cost'; readonly cost: number }
  /** By its weight; undefined: not known, and it counts as the mean. */
  | { readonly code: 'weight'; readonly weight: number | undefined }
  /** It is compared with others by what it reports; undefined: not known, and anyone goes before it. */
  | { readonly code: 'compared'; readonly load: number | undefined }
  /** It is compared with others by its requests in flight. */
  | { readonly code: 'inFlight'; readonly inFlight: number }
  /** It has its turn, or its chance, as all have. */
  | { readonly code: 'turn' }
  /** It is the local node. */
  | { readonly code: 'local' }
  /** The local node takes no work, so that the others do. */
  | { readonly code: 'standIn' }
  /** Keys fall to it. */
  | { readonly code: 'key' }
  /** An algorithm of the user's decides. */
  | { readonly code: 'custom' }

/** The codes of `Grounds`. */
export type GroundsCode = Grounds['code']

/** What is looked at of a member to say why it may be picked. */
export type GroundsFacts = Pick<
  NodeSnapshot,
  'effective' | 'fresh' | 'fixedWeight' | 'weight' | 'cost' | 'inFlight' | 'id'
>

/** What the grounds of one depend on of all that may be picked. */
export interface Candidates {
  /** Whether somebody has a fresh report. */
  readonly hasFresh: boolean
  /** The least load. */
  readonly least: number
}

/**
 * Why a member may be picked that has no reason not to be.
 * @param self the id of the local node
 */
export function groundsOf(
  node: GroundsFacts,
  rules: Rules,
  candidates: Candidates,
  self: string | undefined,
): Grounds {
  switch (rules.algorithm) {
    case 'leastCpu':
      return bandOf(node, rules, candidates)
    case 'spareCapacity':
      return candidates.hasFresh
        ? { code: 'spare', cpu: node.fresh ? node.effective : undefined }
        : { code: 'even' }
    case 'adaptive':
      return node.cost === undefined ? { code: 'turn' } : { code: 'cost', cost: node.cost }
    case 'weightedRoundRobin':
      return { code: 'weight', weight: node.fixedWeight ?? node.weight }
    case 'powerOfTwo':
      return { code: 'compared', load: node.effective }
    case 'leastConnections':
    case 'prequal':
      return { code: 'inFlight', inFlight: node.inFlight }
    case 'local':
      return { code: node.id === self ? 'local' : 'standIn' }
    case 'hashRing':
    case 'maglev':
      return { code: 'key' }
    case 'custom':
      return { code: 'custom' }
    default:
      return node.fixedWeight === undefined ? { code: 'turn' } : { code: 'weight', weight: node.fixedWeight }
  }
}

function bandOf(
  { effective: load, fresh }: GroundsFacts,
  { threshold }: Rules,
  { hasFresh, least }: Candidates,
): Grounds {
  if (!hasFresh || load === undefined || threshold === undefined) return { code: 'even' }
  return { code: 'band', load, least, threshold, isAssumed: !fresh }
}
