import type { ExecutionContext } from 'ava'
import type { TlsSettings } from '../../../dist/client-tls.js'
import type { TransportOption } from '../../../dist/poller/transport.js'

/** What a node can do wrong, of one transport or another. */
export const FAULTS = [
  'refuses',
  'resets',
  'accepts and never answers',
  'answers byte by byte',
  'half-closes',
  'floods 10 MB',
  'sends garbage',
  'closes in the middle',
  'reports NaN',
  'reports a negative load',
  'reports a huge load',
  'reports nothing that is needed',
  'serves an expired certificate',
] as const

export type Fault = (typeof FAULTS)[number]

/** The fault that is met over TLS alone. */
export const EXPIRED = 'serves an expired certificate' satisfies Fault

/** The fault that is none where nodes tell unasked. */
export const TELLS_NOTHING = 'reports nothing that is needed' satisfies Fault

/** A node that answers rightly until it is told otherwise. */
export interface FaultyNode {
  readonly id: string
  /** Does this from now on. */
  break(fault: Fault): Promise<void>
  /** Answers rightly again. */
  mend(): Promise<void>
}

/** A transport and nodes for it, as the fault tests and the soak take them. */
export interface FaultedTransport {
  readonly name: string
  /** Whether its nodes tell unasked: a cycle then finds them heard, and stores nothing itself. */
  readonly unasked?: true
  /** Those that nodes of it can have. */
  readonly faults: readonly Fault[]
  /** Asks the nodes that `start` makes. */
  transport(tls?: TlsSettings): TransportOption
  /**
   * Starts a node on the loopback that reports this CPU in percent.
   * @param tls whether it is met over TLS, with a certificate of the tests' authority
   */
  start(owner: Pick<ExecutionContext, 'teardown'>, cpu: number, tls: boolean): Promise<FaultyNode>
}
