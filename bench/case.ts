/** Who does the work of a case: an engine of idlest, the addon of the floor, or none of them. */
export type Doer = 'native' | 'portable' | 'C++' | '-'

/** One thing that is measured. */
export interface BenchCase {
  readonly name: string
  readonly engine: Doer
  readonly nodes: number
  /** What its figures are of: a pick, unless it says otherwise. */
  readonly unit?: 'call' | 'pick and release' | 'publication' | 'change' | 'table'
  /** Samples in each round. */
  readonly iterations: number
  /** Prepares a round; not timed. */
  readonly beforeRound?: () => void
  /** Takes one sample. Returns ms a unit, timed by itself: what it prepares is not in it. */
  readonly sample: () => number
}

/** Cases that share things which have to be let go of in the end. */
export interface CaseFamily {
  readonly cases: readonly BenchCase[]
  close?(): void | Promise<void>
}

/** What came of a case. */
export interface CaseResult {
  readonly name: string
  readonly engine: Doer
  readonly nodes: number
  readonly unit: string
  /** Median over rounds of the median of each round, ns a unit. */
  readonly nsPerPick: number
  /** Median over rounds of what each round came to in floors, measured right before and after. Absent without the addon. */
  readonly floors: number | undefined
  /** Of all samples, ns a unit; a sample is a mean over many units. */
  readonly p99: number
  readonly samples: number
}

/** Units in a sample where nothing speaks for another number: long enough for the timer, short of a time slice. */
export const UNITS = 1000

let sum = 0

/** Takes what a loop came to, so that the compiler can't leave the loop out. */
export function consume(value: number): void {
  sum = (sum + value) | 0
}
