import { createHash } from 'node:crypto'
import type { ChannelOptions, connectivityState, experimental } from '@grpc/grpc-js'
import type { GrpcModule } from './grpc-module.js'
import { ReportStream } from './report-stream.js'

type Endpoint = experimental.Endpoint

/** As long as an id of a node may be, without NUL. */
const NODE_ID = /^[^\0]{1,1024}$/

/** The id of an endpoint's node: its addresses, in an order that is always the same. */
export function idOf({ experimental }: GrpcModule, { addresses }: Endpoint): string {
  const id = addresses.map(experimental.subchannelAddressToString).sort().join(', ')
  return NODE_ID.test(id) ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`
}

export interface BackendOptions {
  readonly grpc: GrpcModule
  readonly id: string
  readonly endpoint: Endpoint
  readonly helper: experimental.ChannelControlHelper
  readonly channelOptions: ChannelOptions
  readonly resolutionNote: string
  /** Called with the new state; also where it is the one that it was. */
  readonly onState: (backend: Backend, state: connectivityState, error: string | null) => void
}

// Pickers of a single connection look at nothing of a call.
type Pick = experimental.PickArgs

/** An endpoint with its connection: a node of the balancer while that is ready. */
export class Backend {
  readonly id: string
  readonly leaf: experimental.LeafLoadBalancer
  state: connectivityState
  /** When a report of a call was read last, ms. */
  readAt = Number.NEGATIVE_INFINITY
  readonly #grpc: GrpcModule
  #reports: ReportStream | undefined

  constructor(options: BackendOptions) {
    const { grpc, id, endpoint, helper, channelOptions, resolutionNote, onState } = options
    this.id = id
    this.#grpc = grpc
    this.state = grpc.connectivityState.IDLE
    const own = grpc.experimental.createChildChannelControlHelper(helper, {
      updateState: (state, _picker, error) => onState(this, state, error),
    })
    this.leaf = new grpc.experimental.LeafLoadBalancer(endpoint, own, channelOptions, resolutionNote)
  }

  get isReady(): boolean {
    return this.state === this.#grpc.connectivityState.READY
  }

  /**
   * Hears its reports out of band, over the connection that it has now; undefined: no longer.
   * @param spacing least time between two reports, ms
   */
  hear(period: number | undefined, spacing: number, onReport: (report: Uint8Array) => void): void {
    const subchannel = period === undefined || !this.isReady ? null : this.#subchannel()
    if (period === undefined || subchannel === null) {
      this.#reports?.close()
      this.#reports = undefined
      return
    }
    if (this.#reports?.isOf(subchannel, period)) return
    this.#reports?.close()
    this.#reports = new ReportStream({ grpc: this.#grpc, subchannel, period, spacing, onReport })
  }

  close(): void {
    this.#reports?.close()
    this.leaf.destroy()
  }

  #subchannel(): experimental.SubchannelInterface | null {
    const noCall: Pick = { metadata: new this.#grpc.Metadata(), extraPickInfo: {} }
    return this.leaf.getPicker().pick(noCall).subchannel
  }
}
