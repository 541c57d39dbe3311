import type { Spread } from './statistics.js'

/** Who does the work of a case: an engine of idlest, the addon of the floor, or none of them. */
export type Doer = 'native' | 'portable' | 'C++' | '-'

/** What a case is called by: there is one of each in a bench. */
export interface CaseName {
  readonly name: string
  readonly engine: Doer
  /** 0: it has none. */
  readonly nodes: number
}

/** One thing that is measured. */
export interface BenchCase extends CaseName {
  /** What its figures are of: a pick, unless it says otherwise. */
  readonly unit?: 'call' | 'turn' | 'pick and release' | 'publication' | 'change' | 'table'
  /** Samples in each round. */
  readonly iterations: number
  /** Prepares a round; not timed. */
  readonly beforeRound?: () => void
  /** Takes one sample. Returns ms a unit, timed by itself: what it prepares is not in it. */
  readonly sample: () => number
}

/** Where a case stands in the tables of the results. */
export type Topic = (typeof TOPICS)[number]

export const TOPICS = [
  'floor',
  'picks',
  'algorithms',
  'keys',
  'arrays',
  'leases',
  'naive',
  'changes',
  'files',
  'threads',
  'peers',
] as const

/** Cases that share things which have to be let go of in the end. */
export interface CaseFamily {
  readonly topic: Topic
  readonly cases: readonly BenchCase[]
  close?(): void | Promise<void>
}

/** What came of a case. */
export interface CaseResult extends CaseName {
  readonly topic: Topic
  readonly unit: string
  /** Of the medians of all rounds, ns a unit. */
  readonly ns: Spread
  /** Of what each round came to in floors, measured right before and after. Absent without the addon. */
  readonly floors?: Spread
  /** Of all samples, ns a unit; a sample is a mean over many units. */
  readonly p99: number
  readonly samples: number
}

/** The name of a case in one text. */
export function keyOf({ name, engine, nodes }: CaseName): string {
  return [name, ...(engine === '-' ? [] : [engine]), ...(nodes === 0 ? [] : [`${nodes} nodes`])].join(' · ')
}

/** Units in a sample where nothing speaks for another number: long enough for the timer, short of a time slice. */
export const UNITS = 1000

let sum = 0

/** Takes what a loop came to, so that the compiler can't leave the loop out. */
export function consume(value: number): void {
  sum = (sum + value) | 0
}
