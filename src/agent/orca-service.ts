import type { Buffer } from 'node:buffer'
import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { checkOptions, milliseconds, options, whole } from '../options.js'
import { type OrcaRequest, readOrcaRequest } from '../reports/orca-request.js'
import { serverTokenSchema, tokenCheck } from '../web/token.js'
import type { Agent } from './agent.js'
import { partsOf } from './agent-parts.js'
import { type OrcaCall, ToldCall } from './orca-call.js'
import type { Reporter } from './reporter.js'

/** What the service did, since the start. */
export interface OrcaServiceCounters {
  /** Streams that began. */
  streams: number
  /** Of them, those that have ended. */
  ended: number
  /** Reports that were sent. */
  sent: number
  /** Reports that were not sent, since an earlier one still waited to go out: the client does not read. */
  skipped: number
  /** Streams that ended before they had a report, as there was no sample. */
  notReady: number
  /** Calls without the token. */
  unauthorized: number
  /** Calls refused as one too many. */
  refused: number
  /** Calls whose request could not be read. */
  badRequests: number
}

/** Options of `orcaService`. */
export interface OrcaServiceOptions {
  /**
   * Reports are sent no more often than this, ms, whatever a client asks for, but when the agent's state changes. Default
   * 1,000, as often as agents sample.
   */
  readonly minInterval?: number | undefined
  /** Streams at a time; further ones are refused, and counted. Default 1,024. */
  readonly maxStreams?: number | undefined
  /** Clients must send `authorization: Bearer <token>`: 1 to 1,024 visible ASCII characters. Default none; `false` says so. */
  readonly token?: string | false | undefined
}

/** The one method, as `server.addService` takes it. Requests and reports are handed over serialized. */
export type OrcaServiceDefinition = {
  readonly StreamCoreMetrics: {
    readonly path: string
    readonly requestStream: false
    readonly responseStream: true
    readonly requestSerialize: (bytes: Buffer) => Buffer
    readonly requestDeserialize: (bytes: Buffer) => Buffer
    readonly responseSerialize: (bytes: Buffer) => Buffer
    readonly responseDeserialize: (bytes: Buffer) => Buffer
  }
}

/** `xds.service.orca.v3.OpenRcaService`, for a server of @grpc/grpc-js. */
export interface OrcaService {
  /** The service, as `addService` of grpc-js takes it. */
  readonly definition: OrcaServiceDefinition
  /** What answers its calls. */
  readonly implementation: { readonly StreamCoreMetrics: (call: OrcaCall) => void }
  /** What it did so far; the counters go on. */
  readonly counters: Readonly<OrcaServiceCounters>
  /** Ends all streams, which would hold up the server's `tryShutdown`, and refuses new ones. Safe to call again. */
  close(): Promise<void>
}

/** Options with their defaults. */
export interface CheckedOrcaServiceOptions {
  readonly minInterval: number
  readonly maxStreams: number
  readonly token?: string | false | undefined
}

/** The options of the service, for whoever has more beside them. */
export const orcaServiceEntries = {
  minInterval: v.optional(milliseconds(1), 1_000),
  maxStreams: v.optional(whole(1), 1_024),
  token: v.optional(serverTokenSchema),
}

const serviceOptions = options(orcaServiceEntries)

// Of gRPC's statuses.
const INVALID_ARGUMENT = 3
const RESOURCE_EXHAUSTED = 8
const UNAVAILABLE = 14
const UNAUTHENTICATED = 16

function asIs(bytes: Buffer): Buffer {
  return bytes
}

const DEFINITION: OrcaServiceDefinition = {
  StreamCoreMetrics: {
    path: '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics',
    requestStream: false,
    responseStream: true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
}

/** Tells a reporter's reports to all who call. */
export function createOrcaService(
  { minInterval, maxStreams, token }: CheckedOrcaServiceOptions,
  reporter: Reporter,
  clock: Clock,
): OrcaService {
  const mayRead = tokenCheck(token)
  const counters: OrcaServiceCounters = {
    streams: 0,
    ended: 0,
    sent: 0,
    skipped: 0,
    notReady: 0,
    unauthorized: 0,
    refused: 0,
    badRequests: 0,
  }
  const streams = new Map<OrcaCall, ToldCall>()
  let closed = false

  function finish(call: OrcaCall): void {
    const stream = streams.get(call)
    if (stream === undefined) return
    streams.delete(call)
    stream.stop()
    counters.ended++
  }

  function refuse(call: OrcaCall, code: number, details: string): void {
    finish(call)
    call.emit('error', { code, details })
  }

  function begin(call: OrcaCall, { interval }: OrcaRequest): void {
    counters.streams++
    streams.set(
      call,
      new ToldCall({
        call,
        reporter,
        clock,
        counters,
        interval: Math.max(interval, minInterval),
        onNoSample() {
          counters.notReady++
          refuse(call, UNAVAILABLE, 'no sample yet')
        },
      }),
    )
    // However it ended.
    call.on('cancelled', () => finish(call))
  }

  function answer(call: OrcaCall): void {
    const [authorization] = call.metadata.get('authorization')
    if (!mayRead(typeof authorization === 'string' ? authorization : undefined)) {
      counters.unauthorized++
      refuse(call, UNAUTHENTICATED, 'a bearer token is needed')
    } else if (closed) {
      refuse(call, UNAVAILABLE, 'the agent is closed')
    } else if (streams.size >= maxStreams) {
      counters.refused++
      refuse(call, RESOURCE_EXHAUSTED, `there are ${maxStreams} streams already`)
    } else {
      let request: OrcaRequest
      try {
        request = readOrcaRequest(call.request)
      } catch {
        counters.badRequests++
        refuse(call, INVALID_ARGUMENT, 'the request is no OrcaLoadReportRequest')
        return
      }
      begin(call, request)
    }
  }

  return {
    definition: DEFINITION,
    implementation: { StreamCoreMetrics: answer },
    counters,
    async close() {
      closed = true
      for (const call of [...streams.keys()]) refuse(call, UNAVAILABLE, 'the agent is closed')
    },
  }
}

/**
 * Makes ORCA's out-of-band service for a server of your own, made by @grpc/grpc-js; `createAgent({ grpc })` starts one of
 * its own. A stream gets the whole report at once, and then each interval that the client asked for, also unchanged, but
 * no more often than each `minInterval`; a change of the agent's state is told at once. Before the agent's first sample a
 * stream waits for it, up to 10 s. A client that does not read is sent no more until it does.
 *
 * It ends with the agent, and by `close()`; end it before the server's `tryShutdown`, which waits for open streams.
 *
 * @example
 * ```ts
 * const server = new grpc.Server()
 * const { definition, implementation } = orcaService(agent)
 * server.addService(definition, implementation)
 * ```
 * @throws OptionError
 */
export function orcaService(agent: Agent, given: OrcaServiceOptions = {}): OrcaService {
  const checked = checkOptions('orcaService', given, serviceOptions)
  const { reporter, clock, added } = partsOf(agent)
  const service = createOrcaService(checked, reporter, clock)
  added.push(service)
  return service
}
