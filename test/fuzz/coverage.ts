import { type Profiler, Session } from 'node:inspector'

/** What ran since the last look: functions of the watched files, with the blocks in them. */
export type Trace = readonly { readonly key: string; readonly ranges: readonly Profiler.CoverageRange[] }[]

/**
 * Which code has run, by V8's own block counters: what tells a fuzzer that an input did something new. Only code that is
 * loaded after this was made is counted.
 */
export class Coverage {
  readonly #session = new Session()
  readonly #watched: (url: string) => boolean
  /** By function: which of its characters have run. */
  readonly #run = new Map<string, Uint8Array>()
  #covered = 0

  constructor(watched: (url: string) => boolean) {
    this.#watched = watched
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Characters of code that have run, of the traces that were kept. */
  get covered(): number {
    return this.#covered
  }

  /** What ran since the last call. */
  trace(): Trace {
    // The callback runs within the call: the session is with this very thread.
    let scripts: Profiler.ScriptCoverage[] = []
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error) throw error
      scripts = taken.result
    })
    return scripts
      .filter(({ url }) => this.#watched(url))
      .flatMap(({ url, functions }) =>
        functions.map(({ ranges }) => ({
          key: `${url}:${ranges[0]?.startOffset}-${ranges[0]?.endOffset}`,
          ranges,
        })),
      )
  }

  /** Whether a trace has code that no kept one had. */
  isNew(trace: Trace): boolean {
    return trace.some(({ key, ranges }) => {
      const run = this.#run.get(key)
      return paint(ranges).some((now, at) => now === 1 && run?.[at] !== 1)
    })
  }

  /** Remembers a trace. */
  keep(trace: Trace): void {
    for (const { key, ranges } of trace) {
      const now = paint(ranges)
      const run = this.#run.get(key) ?? new Uint8Array(now.length)
      for (const [at, ran] of now.entries()) {
        if (ran === 1 && run[at] === 0) {
          run[at] = 1
          this.#covered++
        }
      }
      this.#run.set(key, run)
    }
  }
}

/** Which characters of a function ran. Its ranges come with the outer ones first; the innermost tells. */
function paint(ranges: readonly Profiler.CoverageRange[]): Uint8Array {
  const [whole] = ranges
  if (whole === undefined) return new Uint8Array()
  const ran = new Uint8Array(whole.endOffset - whole.startOffset)
  for (const { startOffset, endOffset, count } of ranges) {
    ran.fill(count > 0 ? 1 : 0, startOffset - whole.startOffset, endOffset - whole.startOffset)
  }
  return ran
}
