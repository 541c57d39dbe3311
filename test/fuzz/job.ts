/** What a thread that fuzzes is given. */
export interface Job {
  readonly target: string
  readonly seed: number
  /** For how long, ms. */
  readonly ms: number
  /** Word 0: how many inputs were looked at. Word 1: how long the present one is. */
  readonly pulse: Int32Array
  /** The present input. */
  readonly current: Uint8Array
}

/** How far it has come. */
export interface Figures {
  readonly inputs: number
  /** How many of them were read; the others were refused. */
  readonly read: number
  /** Inputs kept since they reached code that no other did. */
  readonly corpus: number
  /** Characters of code that have run. */
  readonly covered: number
  /** The longest that an input took, ms. */
  readonly slowest: number
  /** What the heap has grown by since a quarter of the time, bytes; 0 until the end. */
  readonly grown: number
}

export interface Failure {
  readonly why: string
  readonly input: Uint8Array
}

export type Message =
  | { readonly kind: 'progress'; readonly figures: Figures }
  | { readonly kind: 'end'; readonly figures: Figures; readonly failure: Failure | undefined }
