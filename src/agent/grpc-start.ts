import type { Clock } from '../clock.js'
import type { Address, ListenCounters } from '../web/listening.js'
import type { AgentServer } from './agent-server.js'
import type { CheckedGrpcOptions } from './options.js'
import type { OrcaServiceCounters } from './orca-service.js'
import type { Reporter } from './reporter.js'

/** What the gRPC server did, since the start. */
export interface GrpcCounters extends Readonly<OrcaServiceCounters>, Readonly<ListenCounters> {
  /** Connections that failed the TLS handshake, or took too long for it. */
  readonly badConnections: number
}

/** Tells reports by gRPC. */
export interface GrpcServer extends AgentServer {
  readonly address: Address
  readonly counters: GrpcCounters
}

export interface StartGrpcOptions extends CheckedGrpcOptions {
  readonly unref: boolean
  readonly clock: Clock
}

/**
 * Starts a port for ORCA's reports out of band.
 * @throws ListenError (rejects)
 * @throws OptionError (rejects) for a key and a certificate that are of no use
 */
export async function startGrpcServer(options: StartGrpcOptions, reporter: Reporter): Promise<GrpcServer> {
  // Loaded where it is used, as its package is.
  const { startServer } = await import('./grpc-server.js')
  return startServer(options, reporter)
}
