import * as v from 'valibot'
import { checkOptions, method, options } from '../../options.js'
import type { Report } from '../../report.js'
import { BINARY_HEADER } from '../../reports/orca-headers.js'
import { ReportBytes } from '../report-bytes.js'
import type { Traffic } from '../traffic.js'

/** What is used of an agent. */
export interface InterceptingAgent {
  report(): Report | undefined
  readonly traffic: Traffic
}

/** What is used of a call's metadata. */
export interface GrpcMetadata<M> {
  get(key: string): readonly unknown[]
  set(key: string, value: Buffer): void
  clone(): M
}

/** How a call ends. */
export interface GrpcStatus<M> {
  code: number
  details: string
  metadata?: M | null
}

/** What an interceptor does with a call; the rest goes through. */
export interface GrpcResponder<M> {
  start(next: (listener: { onCancel(): void }) => void): void
  sendStatus(status: GrpcStatus<M>, next: (status: GrpcStatus<M>) => void): void
}

/** The module @grpc/grpc-js as the server has it, of which these two are used. */
export interface GrpcModule<C extends GrpcCall, I, M extends GrpcMetadata<M>> {
  readonly ServerInterceptingCall: new (call: C, responder?: GrpcResponder<M>) => I
  readonly Metadata: new () => M
}

/** What is used of a call. */
export interface GrpcCall {
  getDeadline(): Date | number
}

export interface GrpcInterceptorOptions {
  /**
   * Whether calls of this method, such as `/shop.Carts/Add`, are counted and take reports along. Default all but those of
   * gRPC's own services (health, reflection, channelz) and ORCA's, whose streams stay open and are no work.
   */
  readonly counts?: (path: string) => boolean
}

const interceptorOptions = options({
  counts: v.optional(method<(path: string) => boolean>()),
})

const OWN_SERVICES = /^\/(grpc|xds\.service\.orca)\./

// Of gRPC's statuses.
const OK = 0

/**
 * Makes an interceptor for servers of @grpc/grpc-js: each call that it counts takes the report along as the trailer
 * `endpoint-load-metrics-bin`, as ORCA has it per call (serialized anew each 10 ms at most), and counts in
 * `agent.traffic` until its status is sent. One whose status is not OK, or whose deadline passed, failed; one that the client
 * cancelled did not, and its time is not told as a latency. A handler's own trailer of this name stays.
 *
 * ```ts
 * const server = new grpc.Server({ interceptors: [grpcInterceptor(agent, grpc)] })
 * ```
 * @param grpc the module itself, so that it is the server's own
 * @throws OptionError
 */
export function grpcInterceptor<C extends GrpcCall, I, M extends GrpcMetadata<M>>(
  agent: InterceptingAgent,
  grpc: GrpcModule<C, I, M>,
  given: GrpcInterceptorOptions = {},
): (method: { readonly path: string }, call: C) => I {
  const { counts = (path: string) => !OWN_SERVICES.test(path) } = checkOptions(
    'grpcInterceptor',
    given,
    interceptorOptions,
  )
  const { ServerInterceptingCall, Metadata } = grpc
  const traffic = agent.traffic.open()
  const { counters } = traffic
  const bytes = new ReportBytes(agent, traffic.clock)

  function withReport(status: GrpcStatus<M>): GrpcStatus<M> {
    const report = bytes.get()
    if (report === undefined) {
      counters.withoutReport++
      return status
    }
    // It is the handler's own, which may use it again.
    const metadata = status.metadata?.clone() ?? new Metadata()
    if (metadata.get(BINARY_HEADER).length > 0) return status
    metadata.set(BINARY_HEADER, report)
    counters.reports++
    return { ...status, metadata }
  }

  return ({ path }, call) => {
    if (!counts(path)) return new ServerInterceptingCall(call)
    const request = traffic.begin()
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          // Called at each call's end; where a status was sent, the request is over already.
          onCancel: () => request.end(Number(call.getDeadline()) <= Date.now(), false),
        })
      },
      sendStatus(status, next) {
        request.end(status.code !== OK)
        next(withReport(status))
      },
    })
  }
}
