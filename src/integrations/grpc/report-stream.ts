import type { ClientReadableStream, experimental } from '@grpc/grpc-js'
import { writeOrcaRequest } from '../../reports/orca-request.js'
import type { GrpcModule } from './grpc-module.js'

const STREAM_CORE_METRICS = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics'

export interface ReportStreamOptions {
  readonly grpc: GrpcModule
  /** The connection that calls go by; it is ready. */
  readonly subchannel: experimental.SubchannelInterface
  /** How often reports are asked for, ms. */
  readonly period: number
  readonly onReport: (report: Buffer) => void
}

/**
 * Reports out of band, over the connection that calls go by: asked for again when the stream ends, after waits that grow
 * until a report comes; unless the server does not know of them. Begins at once; ends by `close` alone.
 */
export class ReportStream {
  readonly #options: ReportStreamOptions
  readonly #client: InstanceType<GrpcModule['Client']>
  readonly #backOff: experimental.BackoffTimeout
  #call: ClientReadableStream<Buffer> | undefined

  constructor(options: ReportStreamOptions) {
    this.#options = options
    const { grpc, subchannel } = options
    // Not closed at the end: the channel is the connection's own, for all who ask for it.
    this.#client = new grpc.Client('out-of-band', grpc.credentials.createInsecure(), {
      channelOverride: subchannel.getChannel(),
    })
    this.#backOff = new grpc.experimental.BackoffTimeout(() => this.#ask())
    this.#backOff.unref()
    this.#ask()
  }

  /** Whether it is one over this connection, as often. */
  isOf(subchannel: experimental.SubchannelInterface, period: number): boolean {
    return this.#options.period === period && this.#options.subchannel.realSubchannelEquals(subchannel)
  }

  close(): void {
    this.#backOff.stop()
    const call = this.#call
    this.#call = undefined
    call?.cancel()
  }

  #ask(): void {
    const { grpc, period, onReport } = this.#options
    const call: ClientReadableStream<Buffer> = this.#client.makeServerStreamRequest(
      STREAM_CORE_METRICS,
      (request: Buffer) => request,
      (report: Buffer) => report,
      Buffer.from(writeOrcaRequest({ interval: period })),
      new grpc.Metadata(),
    )
    this.#call = call
    call.on('data', (report: Buffer) => {
      if (call !== this.#call) return
      this.#backOff.reset()
      onReport(report)
    })
    // Of an error the status tells too.
    call.on('error', () => {})
    call.on('status', ({ code }) => {
      if (call === this.#call) this.#ended(code)
    })
  }

  #ended(code: number): void {
    this.#call = undefined
    const { grpc, subchannel } = this.#options
    if (code !== grpc.status.UNIMPLEMENTED) {
      this.#backOff.runOnce()
      return
    }
    const who = subchannel.getAddress()
    grpc.experimental.log(
      grpc.logVerbosity.ERROR,
      `idlest: ${who} tells no reports out of band (UNIMPLEMENTED)`,
    )
  }
}
