import * as v from 'valibot'
import { OptionError } from '../../errors.js'
import { checkOptions, method, milliseconds, options } from '../../options.js'
import { isYes } from '../../rejections.js'
import type { Report } from '../../report.js'
import { BINARY_HEADER } from '../../reports/orca-headers.js'
import { reportTrailer } from '../report-header.js'
import {
  type CallCounter,
  countedCallClass,
  type GrpcCallLike,
  type GrpcMetadataLike,
  type GrpcStatusLike,
} from './grpc-call.js'
import { trailerMaker } from './grpc-trailer.js'
import { checkSource, type LoadSource } from './options.js'
import { WrittenReport } from './written-report.js'

/** What is needed of the module @grpc/grpc-js. */
export interface GrpcModuleLike<
  C extends GrpcCallLike<M>,
  I extends GrpcCallLike<M>,
  M extends GrpcMetadataLike<M>,
> {
  /** Makes a call around another. */
  readonly ServerInterceptingCall: new (
    call: C,
  ) => I
  /** Makes metadata. */
  readonly Metadata: new () => M
}

/** Options of `grpcInterceptor`. */
export interface GrpcInterceptorOptions<C = GrpcCallLike> {
  /**
   * Which calls take the report along, by method and by the call, such as by where it comes from (`call.getPeer()`). Default
   * all: whoever may call learns how busy the server is.
   */
  readonly when?: ((path: string, call: C) => boolean) | undefined
  /**
   * How long a report may be sent again before it is written anew, ms: so much older than it says it may be. 0: each
   * response has one of its own. Default 10.
   */
  readonly reuse?: number | undefined
  /**
   * Methods, such as `/shop.Carts/Watch`, whose calls don't count and get no report, such as streams that stay open for
   * hours. Default none; those of gRPC's own services (health, reflection, channelz) and ORCA's never do.
   */
  readonly skip?: ((path: string) => boolean) | undefined
}

const interceptorOptions = options({
  when: v.optional(method<(path: string, call: never) => boolean>()),
  reuse: v.optional(milliseconds(0), 10),
  skip: v.optional(method<(path: string) => boolean>()),
})

// Of gRPC's own services, or ORCA's.
function isOwn(path: string): boolean {
  return path.startsWith('/grpc.') || path.startsWith('/xds.service.orca.')
}

/** A report as a trailer. */
interface Trailer<M> {
  readonly bytes: Buffer
  /** The same, where a call has no other. */
  readonly alone: M
}

// Else each call would throw within the server, and end the process.
function checkModule<G>(grpc: G): G {
  const given: Partial<Record<'ServerInterceptingCall' | 'Metadata', unknown>> = Object(grpc)
  if (typeof given.ServerInterceptingCall === 'function' && typeof given.Metadata === 'function') return grpc
  throw new OptionError('grpc', grpc, 'the module @grpc/grpc-js, which has ServerInterceptingCall since 1.10')
}

/**
 * Makes an interceptor for servers of @grpc/grpc-js: counts calls in the agent's `traffic`, and adds the report to each as
 * the trailer `endpoint-load-metrics-bin`, as ORCA has it per call.
 *
 * A call is in flight until its status is sent. It failed where that is not OK, or its deadline passed. One that the client
 * cancelled did not fail, and how long it took is not told. A trailer of this name that the handler sent gives way.
 *
 * @example
 * ```ts
 * const server = new grpc.Server({ interceptors: [grpcInterceptor(agent, grpc)] })
 * ```
 * @param agent what `await createAgent()` gave
 * @param grpc the module itself, as `import * as grpc from '@grpc/grpc-js'` gives it: the one that the server is of
 * @throws OptionError
 */
export function grpcInterceptor<
  C extends GrpcCallLike<M>,
  I extends GrpcCallLike<M>,
  M extends GrpcMetadataLike<M>,
>(
  agent: LoadSource,
  grpc: GrpcModuleLike<C, I, M>,
  given: GrpcInterceptorOptions<C> = {},
): (method: { readonly path: string }, call: C) => I {
  const { traffic } = checkSource(agent)
  const { reuse, skip } = checkOptions('', given, interceptorOptions)
  const { when } = given
  const { ServerInterceptingCall, Metadata } = checkModule(grpc)
  const trailerOf = trailerMaker(Metadata)
  function write(report: Report): Trailer<M> {
    const bytes = reportTrailer(report)
    return { bytes, alone: trailerOf(bytes) }
  }
  const written = new WrittenReport(agent, { name: 'BIN', write }, reuse)
  traffic.open()

  function withReport(status: GrpcStatusLike<M>, call: C): GrpcStatusLike<M> {
    const report = written.take()
    if (report === undefined) return status
    const { code, details } = status
    // A server's own call copies it; another interceptor could add to it.
    if (!status.metadata && !(call instanceof ServerInterceptingCall)) {
      return { code, details, metadata: report.alone }
    }
    // They are the handler's own, which may send them again.
    const metadata = status.metadata?.clone() ?? new Metadata()
    metadata.set(BINARY_HEADER, report.bytes)
    return { code, details, metadata }
  }

  const CountedCall = countedCallClass(ServerInterceptingCall)
  const counter: CallCounter<C, M> = {
    begin: () => traffic.begin(),
    statusOf: (path, call, status) =>
      when === undefined || isYes(when(path, call)) ? withReport(status, call) : status,
  }
  return ({ path }, call) => {
    if (isOwn(path) || (skip !== undefined && isYes(skip(path)))) return new ServerInterceptingCall(call)
    return new CountedCall(call, path, counter) as unknown as I
  }
}
