import type { experimental, Metadata } from '@grpc/grpc-js'
import { type Balancer, type Lease, NoNodesError, type Outcome } from '../../index.js'
import type { Backend } from './backend.js'
import type { GrpcModule } from './grpc-module.js'
import type { TrailerReports } from './trailer-reports.js'

/** How picks are made and ended. */
export interface CallRules {
  readonly balancer: Balancer<Backend>
  /** Reads reports off the trailers of calls; undefined: nobody does. */
  readonly reports: TrailerReports | undefined
  /** Whether a call with this status failed; undefined where that says nothing of the node. */
  readonly hasFailed: (status: number) => boolean | undefined
}

/** What grpc-js says of a stream that the server refused to begin: it sends the call again by itself. */
const REFUSED_STREAM = 'Stream refused by server'

const NEUTRAL: Outcome = Object.freeze({ neutral: true })

/**
 * What statuses say of a node: those that OpenTelemetry counts as a server's errors, and RESOURCE_EXHAUSTED, by which a
 * server that is full refuses, are failures. A call that was cancelled says nothing; all others are answers.
 */
export function judgeOf({ status }: GrpcModule): CallRules['hasFailed'] {
  const failures = new Set<number>([
    status.UNKNOWN,
    status.DEADLINE_EXCEEDED,
    status.RESOURCE_EXHAUSTED,
    status.UNIMPLEMENTED,
    status.INTERNAL,
    status.UNAVAILABLE,
    status.DATA_LOSS,
  ])
  // Of a message that could not be unpacked grpc-js gives no code.
  return (code: unknown) =>
    code === status.CANCELLED ? undefined : typeof code !== 'number' || failures.has(code)
}

/** Picks among the connections that are ready. */
export class CallPicker implements experimental.Picker {
  readonly #rules: CallRules
  // Of this turn of the event loop: whoever has not begun by its end is taken back.
  #picked: PickedCall[] = []
  #turn = 0

  constructor(rules: CallRules) {
    this.#rules = rules
  }

  pick(pickArgs: experimental.PickArgs): experimental.PickResult {
    const lease = this.#acquire()
    const result = lease.node.leaf.getPicker().pick(pickArgs)
    // 0 is COMPLETE: the enumeration is a module's, and which one is the user's choice.
    if (result.pickResultType !== 0) {
      lease.release(NEUTRAL)
      return result
    }
    const call = new PickedCall(this.#rules, lease, result)
    if (this.#picked.push(call) === 1) setImmediate(() => this.#settle())
    return call
  }

  // Where no node takes work, as they told or for their failures, all that are connected do.
  #acquire(): Lease<Backend> {
    const { balancer } = this.#rules
    try {
      return balancer.acquire()
    } catch (error) {
      const { nodes } = balancer
      const node = nodes[this.#turn++ % nodes.length]
      if (!(error instanceof NoNodesError) || node === undefined) throw error
      return balancer.lease(node)
    }
  }

  #settle(): void {
    const picked = this.#picked
    this.#picked = []
    for (const call of picked) call.wait()
  }
}

/**
 * A pick, as grpc-js takes it. It counts as in flight from the pick on, so that calls that are made at once don't all go
 * to one node. grpc-js does not tell when it gives up a call before that began; so a call that has not begun by the end of
 * the turn, since its credentials take time or it was given up, no longer counts, and counts anew once it begins.
 */
class PickedCall implements experimental.PickResult {
  readonly pickResultType: experimental.PickResult['pickResultType']
  readonly subchannel: experimental.PickResult['subchannel']
  readonly status = null
  // Called on any object, or none.
  readonly onCallStarted: () => void
  readonly onCallEnded: (status: number, details: string, metadata: Metadata) => void
  #lease: Lease<Backend> | undefined
  // When it began, ms; 0: it has not.
  #begun = 0

  constructor(rules: CallRules, lease: Lease<Backend>, { pickResultType, subchannel, ...leaf }: LeafResult) {
    const { node } = lease
    this.pickResultType = pickResultType
    this.subchannel = subchannel
    this.#lease = lease
    this.onCallStarted = () => {
      this.#begun = performance.now()
      this.#lease ??= leaseOn(rules.balancer, node)
      leaf.onCallStarted?.()
    }
    this.onCallEnded = (status, details, metadata) => {
      const now = performance.now()
      const hasFailed = details === REFUSED_STREAM ? undefined : rules.hasFailed(status)
      this.#lease?.release(outcomeOf(hasFailed, now - this.#begun))
      rules.reports?.take(node, metadata, now)
      leaf.onCallEnded?.(status, details, metadata)
    }
  }

  /** Takes it back where it has not begun. */
  wait(): void {
    if (this.#begun > 0) return
    this.#lease?.release(NEUTRAL)
    this.#lease = undefined
  }
}

function outcomeOf(hasFailed: boolean | undefined, latency: number): Outcome {
  return hasFailed === undefined ? NEUTRAL : { ok: !hasFailed, latency }
}

type LeafResult = experimental.PickResult

// Undefined where the node has left meanwhile.
function leaseOn(balancer: Balancer<Backend>, node: Backend): Lease<Backend> | undefined {
  try {
    return balancer.lease(node)
  } catch {
    return undefined
  }
}
