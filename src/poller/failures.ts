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

/**
 * Tells of remotes that failed, or told something wrong: each time on the channel, where somebody listens; as a process warning once per node
 * and kind, until the node answers again. No warning is given of a node that can't be polled while it is drained or out
 * for maintenance, as in a rolling restart: it is counted, and warned of if it still fails once it is expected to work.
 */
export class FailureReports {
  /** Warnings so far. */
  warned = 0
  readonly #balancer: string
  readonly #isLeaving: (node: string) => boolean
  // Which kinds each node that fails was warned of for.
  readonly #warned = new Map<string, number>()
  // Those that failed in the last round.
  #failing = new Map<string, PollFailure>()
  // Those that told wrong things unasked since the last round ended.
  readonly #bad = new Set<string>()

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

  /** Takes up that a node told something wrong, beside what it answers to rounds. */
  bad(node: string, reason: string): void {
    const failure: FailedNode = { node, kind: 'error', reason }
    this.#bad.add(node)
    this.#publish(failure)
    this.#warn(failure, 'said something wrong')
  }

  /** Takes up what one round came to: all nodes that failed in it; those that did not have answered, or left. */
  report(failed: readonly FailedNode[]): void {
    if (this.#warned.size > 0) {
      const failing = new Set(failed.map(({ node }) => node))
      for (const node of this.#warned.keys()) {
        if (!failing.has(node) && !this.#bad.has(node)) this.#warned.delete(node)
      }
    }
    this.#bad.clear()
    const before = this.#failing
    this.#failing = new Map()
    for (const failure of failed) {
      const { node, kind, reason } = failure
      this.#failing.set(node, { count: (before.get(node)?.count ?? 0) + 1, kind, reason })
      this.#publish(failure)
      if (!this.#isLeaving(node)) this.#warn(failure)
    }
  }

  #publish({ node, kind, reason }: FailedNode): void {
    if (!channels.remoteError.hasSubscribers) return
    channels.remoteError.publish({ balancer: this.#balancer, node, kind, reason } satisfies RemoteErrorEvent)
  }

  #warn({ node, kind, reason, thread }: FailedNode, what = "can't be polled"): void {
    if (thread) return
    const bit = kind === 'exit' ? EXIT : ERROR
    const before = this.#warned.get(node) ?? 0
    if ((before & bit) !== 0) return
    this.#warned.set(node, before | bit)
    this.warned++
    warn(
      `${this.#balancer}: node ${JSON.stringify(node)} ${what}: ${reason}`,
      kind === 'exit' ? 'IDLEST_POLL_EXIT' : 'IDLEST_POLL_ERROR',
    )
  }
}
