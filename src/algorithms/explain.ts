/** Why a member may be picked now, with the numbers that decide how often. CPU and thresholds are percent. */
export type Grounds =
  /** No member has a fresh report, and the algorithm goes by these: all have even chances. */
  | { readonly code: 'even' }
  /** Its load is within the band. */
  | {
      readonly code: 'band'
      readonly load: number
      readonly least: number
      readonly threshold: number
      /** Whether that load is only assumed, because it has no fresh report. */
      readonly isAssumed: boolean
    }
  /** It has CPU to spare; undefined: it has no fresh report, and counts as the mean. */
  | { readonly code: 'spare'; readonly cpu: number | undefined }
  /** By the time that a request there is expected to take, ms; where nothing was learned, what the algorithm starts from. */
  | { readonly code: 'cost'; readonly cost: number }
  /** By its weight; undefined: not known, and it counts as the mean. */
  | { readonly code: 'weight'; readonly weight: number | undefined }
  /** It is compared with others by what it reports; undefined: not known, and any node with a known load comes first. */
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

/** Why a member has no share of the draws, with the numbers that decide it. CPU and thresholds are percent. */
export type LoadReason =
  /** Its load is above the band. */
  | {
      readonly code: 'band'
      readonly load: number
      readonly least: number
      readonly threshold: number
    }
  /** It has no CPU to spare, and the algorithm gives such nodes no share. */
  | { readonly code: 'busy'; readonly cpu: number | undefined }
  /** The nodes that it is compared with are less loaded. */
  | { readonly code: 'outdone'; readonly load: number | undefined }
  /** The local node is up, and takes all. */
  | { readonly code: 'remote' }
  /** No key falls to it. */
  | { readonly code: 'keyless' }
  /** The algorithm gives it no share, for a reason that is not known here. */
  | { readonly code: 'shareless' }

/** The fields of a member that an explanation uses: see `NodeSnapshot`. */
export interface ExplainedMember {
  readonly id: string
  readonly cpu: number | undefined
  readonly effective: number | undefined
  readonly fresh: boolean
  readonly fixedWeight: number | undefined
  readonly weight: number | undefined
  readonly cost: number | undefined
  readonly inFlight: number
}

/** What the explanation of one member needs to know of the others. */
export interface ExplainOthers {
  /** Whether any member that may be picked has a fresh report. */
  readonly hasFresh: boolean
  /** The least load of those that may be picked. */
  readonly least: number
  /** The id of the local node. */
  readonly self: string | undefined
}

/** The options of the algorithm that explanations use. */
export interface ExplainRules {
  /** Width of the band, percentage points; undefined where there is none. */
  readonly threshold: number | undefined
}

/** Why a member may be picked, as data and as a person reads it. */
export interface Explained {
  readonly grounds: Grounds
  readonly words: string
}

/** Why a member is not picked, as data and as a person reads it. */
export interface Unpicked<R extends { readonly code: string } = LoadReason> {
  readonly reason: R
  readonly words: string
}

/** The algorithm gives it no share, for a reason that is not known. */
export function shareless(): Unpicked {
  return { reason: { code: 'shareless' }, words: 'the algorithm gives it no share' }
}

/** No key falls to it. */
export function keyless(): Unpicked {
  return { reason: { code: 'keyless' }, words: 'no key falls to it' }
}

/** All members have even chances, because the algorithm uses reports and no member has a fresh one. */
export function even(): Explained {
  return { grounds: { code: 'even' }, words: 'no member has a fresh report' }
}

/** It has the same turn or chance as every other member. */
export function turn(): Explained {
  return { grounds: { code: 'turn' }, words: 'as all are that take work' }
}

/** By its weight; undefined: not known. */
export function byWeight(weight: number | undefined): Explained {
  return {
    grounds: { code: 'weight', weight },
    words:
      weight === undefined ? 'its weight is not known, and counts as the mean' : `weight ${short(weight)}`,
  }
}

/** By its fixed weight, where there are such; else as all. */
export function byFixedWeight({ fixedWeight }: ExplainedMember): Explained {
  return fixedWeight === undefined ? turn() : byWeight(fixedWeight)
}

/** By its requests in flight. */
export function byInFlight({ inFlight }: ExplainedMember): Explained {
  return {
    grounds: { code: 'inFlight', inFlight },
    words: `its ${inFlight} in flight are compared with others'`,
  }
}

/** By what a request there is expected to take; where nothing was learned, as all. */
export function byCost({ cost }: ExplainedMember): Explained {
  if (cost === undefined) return turn()
  return { grounds: { code: 'cost', cost }, words: `counts as taking ${short(cost)} ms a request` }
}

/** By keys. */
export function byKey(): Explained {
  return { grounds: { code: 'key' }, words: 'keys fall to it' }
}

/** A percentage for messages, to a tenth. */
export function percent(value: number): string {
  return String(Number(value.toFixed(1)))
}

/** A number for messages, to four digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)))
}
