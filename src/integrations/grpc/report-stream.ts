import type { experimental, Metadata } from '@grpc/grpc-js'
import { reasonOf } from '../../errors.js'
import { Budget } from '../../http2/budget.js'
import { framedMessage, unframedMessage } from '../../http2/grpc-messages.js'
import { byteAllowance, messageAllowance } from '../../http2/report-limits.js'
import { processClock } from '../../process-clock.js'
import { MAX_REPORT } from '../../reports/orca-fields.js'
import { writeOrcaRequest } from '../../reports/orca-request.js'
import { Spaced } from '../../spaced.js'
import type { GrpcModule } from './grpc-module.js'

const STREAM_CORE_METRICS = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics'

/** A stream that tells for so long, ms, is well: should it fail later, that is logged again. */
const HEALTHY_TIME = 60_000

type Subchannel = ReturnType<experimental.SubchannelInterface['getRealSubchannel']>
type Call = ReturnType<Subchannel['createCall']>

export interface ReportStreamOptions {
  readonly grpc: GrpcModule
  /** The connection that calls go by; it is ready. */
  readonly subchannel: experimental.SubchannelInterface
  /** How often reports are asked for, ms. */
  readonly period: number
  /** Least time between two reports that are passed on, ms: of those that come sooner the last is. */
  readonly spacing: number
  readonly onReport: (report: Uint8Array) => void
}

/** What a server is called as, by the target of its channel; as grpc-js has it. */
export function authorityOf(target: string): string {
  const [, scheme, path = ''] = /^([a-z][a-z\d+.-]*):(?:\/\/[^/]*\/)?(.*)$/is.exec(target) ?? []
  return scheme === 'unix' ? 'localhost' : (path.split(',')[0] as string)
}

/**
 * Reports out of band, over the connection that calls go by: asked for again when the stream ends, after waits that grow
 * until a report comes; unless the server does not know of them. Begins at once; ends by `close` alone.
 *
 * The call is made on the connection itself: a channel would unpack messages first, and what goes wrong with that nobody
 * catches. So messages come as they were sent, compressed ones are refused, and each is read only when it is asked for.
 * A server that sends more than the polling thread would take of a node (`report-limits.ts`) loses the stream.
 */
export class ReportStream {
  readonly #options: ReportStreamOptions
  readonly #backOff: experimental.BackoffTimeout
  readonly #passOn: Spaced
  #latest: Uint8Array | undefined
  #call: Call | undefined
  // Tells the events of the present call from those of earlier ones.
  #try = 0
  #begunAt = 0
  #reported = false
  #complained = false
  #messages: Budget
  #bytes: Budget

  constructor(options: ReportStreamOptions) {
    this.#options = options
    const { grpc, spacing, period } = options
    const now = processClock.now()
    this.#messages = new Budget(messageAllowance(period), now)
    this.#bytes = new Budget(byteAllowance(period), now)
    this.#passOn = new Spaced(() => this.#tell(), processClock, spacing)
    this.#backOff = new grpc.experimental.BackoffTimeout(() => this.#ask())
    this.#backOff.unref()
    this.#ask()
  }

  /** Whether it is one over this connection, as often. */
  isOf(subchannel: experimental.SubchannelInterface, period: number): boolean {
    return this.#options.period === period && this.#options.subchannel.realSubchannelEquals(subchannel)
  }

  close(): void {
    this.#passOn.close()
    this.#backOff.stop()
    this.#drop()
  }

  #drop(): void {
    this.#try++
    const call = this.#call
    this.#call = undefined
    const { grpc } = this.#options
    call?.cancelWithStatus(grpc.status.CANCELLED, 'no longer wanted')
  }

  #ask(): void {
    const { grpc, subchannel, period } = this.#options
    const current = ++this.#try
    const now = processClock.now()
    this.#begunAt = now
    this.#reported = false
    this.#messages = new Budget(messageAllowance(period), now)
    this.#bytes = new Budget(byteAllowance(period), now)
    const authority = authorityOf(subchannel.getChannel().getTarget())
    subchannel
      .getCallCredentials()
      .generateMetadata({ method_name: STREAM_CORE_METRICS, service_url: `https://${authority}` })
      .then((credentials) => {
        if (current === this.#try) this.#begin(current, authority, credentials)
      })
      .catch((error: unknown) => {
        if (current === this.#try) this.#fail(reasonOf(error))
      })
      .catch((error: unknown) => {
        grpc.experimental.log(grpc.logVerbosity.ERROR, `idlest: ${reasonOf(error)}`)
      })
  }

  #begin(current: number, authority: string, metadata: Metadata): void {
    const { subchannel, period } = this.#options
    // Nothing that grpc-js calls may throw: it would end the process.
    const ofThis =
      <A extends unknown[]>(run: (...given: A) => void) =>
      (...given: A) => {
        if (current !== this.#try) return
        try {
          run(...given)
        } catch (error) {
          this.#fail(reasonOf(error))
        }
      }
    metadata.set('grpc-accept-encoding', 'identity')
    const call = subchannel.getRealSubchannel().createCall(metadata, authority, STREAM_CORE_METRICS, {
      onReceiveMetadata: () => {},
      onReceiveMessage: ofThis((framed: Uint8Array) => this.#take(framed)),
      onReceiveStatus: ofThis(({ code, details }) => this.#ended(code, details)),
    })
    this.#call = call
    call.sendMessageWithContext({}, framedMessage(writeOrcaRequest({ interval: period })))
    call.halfClose()
    call.startRead()
  }

  #take(framed: Uint8Array): void {
    const now = processClock.now()
    if (!this.#messages.take(1, now) || !this.#bytes.take(framed.length, now)) {
      // What came of it before does not make the next try come any sooner.
      this.#reported = false
      this.#fail('it sends more than one report each period')
      return
    }
    this.#latest = unframedMessage(framed, MAX_REPORT)
    this.#reported = true
    if (now - this.#begunAt >= HEALTHY_TIME) this.#complained = false
    this.#passOn.soon()
    this.#call?.startRead()
  }

  #tell(): void {
    const report = this.#latest
    this.#latest = undefined
    if (report !== undefined) this.#options.onReport(report)
  }

  #ended(code: number, details: string): void {
    const { grpc } = this.#options
    this.#call = undefined
    if (code === grpc.status.UNIMPLEMENTED) {
      this.#try++
      this.#complain('tells no reports out of band (UNIMPLEMENTED)')
    } else if (code === grpc.status.RESOURCE_EXHAUSTED) this.#fail(details)
    else this.#retry()
  }

  // The stream is of no use as it is.
  #fail(reason: string): void {
    this.#reported = false
    this.#drop()
    this.#complain(`its reports out of band can't be read: ${reason}`)
    this.#retry()
  }

  #retry(): void {
    if (this.#reported) this.#backOff.reset()
    this.#backOff.runOnce()
  }

  // Once, until it has been well for a while.
  #complain(what: string): void {
    if (this.#complained) return
    this.#complained = true
    const { grpc, subchannel } = this.#options
    grpc.experimental.log(grpc.logVerbosity.ERROR, `idlest: ${subchannel.getAddress()} ${what}`)
  }
}
