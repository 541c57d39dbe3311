/** What the report of a comparison shows, as plain data: in the page it is JSON. Times in ms; null: there is none. */
export interface ReportData {
  readonly title: string
  /** What was simulated, in words. */
  readonly about: string
  /** What servers there were, in words, a line a group. */
  readonly fleet: readonly string[]
  /** Of the package. */
  readonly version: string
  readonly seed: number
  /** Requests that arrive before are in no figure but those over time. */
  readonly warmup: number
  /** What becomes of servers, by time. */
  readonly changes: readonly { readonly at: number; readonly what: string }[]
  /** Where arrivals came from a log. */
  readonly log: LogData | undefined
  /** Ids of the servers; none where there are too many to list. */
  readonly servers: readonly string[]
  readonly policies: readonly PolicyData[]
}

/** Lines of a log. */
export interface LogData {
  readonly path: string
  readonly lines: number
  readonly used: number
  readonly blank: number
  readonly bad: number
  readonly firstBad: readonly { readonly line: number; readonly why: string }[]
}

/** What came of one policy. */
export interface PolicyData {
  readonly name: string
  readonly engine: string | undefined
  /** Fingerprint of the requests: the same for every policy. */
  readonly workload: string
  /** Whether the backlog of requests stopped growing. If not, the times below only show how long the run was. */
  readonly settled: boolean
  readonly mean: number | null
  readonly p50: number | null
  readonly p99: number | null
  readonly p999: number | null
  readonly max: number | null
  readonly worst: { readonly share: number; readonly server: string } | undefined
  readonly failed: number
  readonly unended: number
  /** By server, where they are listed: shares from 0 to 1. */
  readonly nodes: readonly { readonly share: number | null; readonly utilization: number | null }[]
  /** Length of the windows below. */
  readonly width: number
  /** By window, of the requests that arrived in it. */
  readonly p99s: readonly (number | null)[]
  /** Shares of the requests of each window, 0-1: of each server, or where they are not listed the largest alone. */
  readonly shares: readonly (readonly (number | null)[])[]
  /** Response times between bounds, and how many there were. */
  readonly bars: readonly { readonly from: number; readonly to: number; readonly count: number }[]
}
