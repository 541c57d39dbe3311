import type { DemoResult, PhaseResult } from './result.js'
import type { DemoOptions, Scene } from './scene.js'

/** What is known of a server while requests are sent. */
export interface NodeFrame {
  readonly name: string
  readonly secondJob: boolean
  /** Of its newest report: percent of its share of a core. */
  readonly cpu: number | undefined
  /** Of that report, ms. */
  readonly age: number | undefined
  /** Percent of the requests so far; undefined before the first. */
  readonly share: number | undefined
  /** ms */
  readonly p50: number | undefined
  readonly p99: number | undefined
}

/** One moment of a phase. */
export interface Frame {
  readonly policy: PhaseResult['policy']
  /** Time since the first request, and how long requests are sent, s. */
  readonly elapsed: number
  readonly duration: number
  readonly sent: number
  /** Requests that are not answered yet. */
  readonly waiting: number
  readonly errors: number
  /** Of all servers, ms. */
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly nodes: readonly NodeFrame[]
}

/** Shows what goes on. */
export interface View {
  /** The servers are up. */
  begin(options: DemoOptions, scene: Scene, engine: DemoResult['engine']): void
  /** Something is done that takes a while and has nothing to show. */
  note(text: string): void
  /** How a phase stands, several times a second; `last` when it has ended. */
  frame(frame: Frame, last: boolean): void
  end(result: DemoResult): void
}
