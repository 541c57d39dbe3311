/** What tells an agent's reports: over a port of its own, or by publishing them. It asks the reporter, and samples nothing. */
export interface AgentServer {
  /** Where it is heard. */
  readonly address: object
  /** What it did so far; numbers that go on. */
  readonly counters: object
  /** Ends it and all its connections at once. Safe to call again; never rejects. */
  close(): Promise<void>
}
