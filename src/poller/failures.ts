import { printable } from '../printable.js'
import { channels, type RemoteErrorEvent } from '../telemetry.js'
import { warn } from '../warn.js'
import type { FailedNode } from './answer.js'

const EXIT = 1
const ERROR = 2

/** How polling a member fails. */
export interface PollFailure {
  /** Rounds in a row. */
  readonly count: number
  /** Of the last one. `exit`: refused, reset, timed out or closed. `error`: a bad status, size, shape or value. */
  readonly kind: 'exit' | 'error'
  /** Why, in words. */
  readonly reason: string
}

const FAILED = "can't be polled"
const WRONG = 'said something wrong'
const CODES = { exit: 'IDLEST_POLL_EXIT', error: 'IDLEST_POLL_ERROR' } as const

/** Nodes that get a warning each. If more fail in the same way in one round, one warning is about all of them. */
const MOST_ALONE = 3

/**
 * Reports remotes that failed, or said something wrong: each time on the channel, where somebody listens; as a process
 * warning once per node and kind, until the node answers again. Many nodes that fail in one round share a warning. No
 * warning is given of a node that can't be polled while it is drained or out for maintenance, as in a rolling restart: it
 * is counted, and warned of if it still fails once it is expected to work.
 */
export class FailureReports {
  /** Nodes and kinds that were warned of so far, alone or with others. */
  warned = 0
  readonly #balancer: string
  readonly #isLeaving: (node: string) => boolean
  // Which kinds each node that fails was warned of for.
  readonly #warned = new Map<string, number>()
  // Those that failed in the last round.
  #failing = new Map<string, PollFailure>()
  // Those that said wrong things unasked since the last round ended, and those of them that no warning named yet.
  readonly #bad = new Set<string>()
  #badAlone = 0
  #badLater: FailedNode[] = []

  /** @param isLeaving whether a node was drained or is out for maintenance: that such a node fails is no surprise */
  constructor(balancer: string, isLeaving: (node: string) => boolean = () => false) {
    this.#balancer = balancer
    this.#isLeaving = isLeaving
  }

  /** How many failed in the last round. */
  get failing(): number {
    return this.#failing.size
  }

  /** How a node failed in the last round; undefined where it did not. */
  of(node: string): PollFailure | undefined {
    return this.#failing.get(node)
  }

  /** Takes up that a node said something wrong, beside what it answers to rounds. */
  bad(node: string, reason: string): void {
    const failure: FailedNode = { node, kind: 'error', reason: printable(reason) }
    this.#bad.add(node)
    this.#publish(failure)
    if (!this.#isNews(failure)) return
    if (this.#badAlone++ < MOST_ALONE) this.#warn([failure], WRONG)
    else this.#badLater.push(failure)
  }

  /** Takes up what one round came to: all nodes that failed in it; those that did not have answered, or left. */
  report(failed: readonly FailedNode[]): void {
    this.#warn(this.#badLater, WRONG)
    this.#badAlone = 0
    this.#badLater = []
    if (this.#warned.size > 0) {
      const failing = new Set(failed.map(({ node }) => node))
      for (const node of this.#warned.keys()) {
        if (!failing.has(node) && !this.#bad.has(node)) this.#warned.delete(node)
      }
    }
    this.#bad.clear()
    const before = this.#failing
    this.#failing = new Map()
    const news: FailedNode[] = []
    for (const { node, kind, thread, reason } of failed) {
      const failure: FailedNode = { node, kind, thread, reason: printable(reason) }
      this.#failing.set(node, { count: (before.get(node)?.count ?? 0) + 1, kind, reason: failure.reason })
      this.#publish(failure)
      if (!this.#isLeaving(node) && this.#isNews(failure)) news.push(failure)
    }
    for (const kind of ['exit', 'error'] as const) {
      const alike = news.filter((failure) => failure.kind === kind)
      if (alike.length > MOST_ALONE) this.#warn(alike, FAILED)
      else for (const failure of alike) this.#warn([failure], FAILED)
    }
  }

  #publish({ node, kind, reason }: FailedNode): void {
    if (!channels.remoteError.hasSubscribers) return
    channels.remoteError.publish({ balancer: this.#balancer, node, kind, reason } satisfies RemoteErrorEvent)
  }

  // Whether nobody was warned of this kind of failure of this node, since it answered last.
  #isNews({ node, kind, thread }: FailedNode): boolean {
    if (thread) return false
    const bit = kind === 'exit' ? EXIT : ERROR
    const before = this.#warned.get(node) ?? 0
    if ((before & bit) !== 0) return false
    this.#warned.set(node, before | bit)
    this.warned++
    return true
  }

  // One warning for failures of one kind.
  #warn(failures: readonly FailedNode[], what: string): void {
    const [first] = failures
    if (first === undefined) return
    const named = failures
      .slice(0, MOST_ALONE)
      .map(({ node, reason }) => ({ node: JSON.stringify(node), reason }))
    const text =
      failures.length === 1
        ? `node ${named[0]?.node} ${what}: ${first.reason}`
        : `${failures.length} nodes ${what}, such as ${named.map(({ node, reason }) => `${node}: ${reason}`).join('; ')}`
    warn(`${this.#balancer}: ${text}`, CODES[first.kind])
  }
}
