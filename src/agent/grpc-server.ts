import { createServer, type Server as TcpServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Clock } from '../clock.js'
import { HIDDEN, OptionError, reasonOf } from '../errors.js'
import { MeteredSocket } from '../http2/metered-socket.js'
import { loadGrpc } from '../optional-package.js'
import { pemBuffers } from '../pem.js'
import { MAX_REQUEST } from '../reports/orca-request.js'
import { type Address, type ListenCounters, listen } from '../web/listening.js'
import type { ServerTls } from '../web/web-server.js'
import type { AgentServer } from './agent-server.js'
import { ClientLimits } from './client-limits.js'
import type { CheckedGrpcOptions } from './options.js'
import { createOrcaService, type OrcaServiceCounters } from './orca-service.js'
import type { Reporter } from './reporter.js'

// The one module of the agent that loads @grpc/grpc-js.

/** What the gRPC server did, since the start. */
export interface GrpcCounters extends Readonly<OrcaServiceCounters>, Readonly<ListenCounters> {
  /** Connections that were ended since their clients sent more bytes or frames than hearing reports takes. */
  readonly floods: number
  /** Connections that failed the TLS handshake, or took too long for it. */
  readonly badConnections: number
}

/** Tells reports by gRPC. */
export interface GrpcServer extends AgentServer {
  readonly address: Address
  readonly counters: GrpcCounters
}

interface StartGrpcOptions extends CheckedGrpcOptions {
  readonly unref: boolean
  readonly clock: Clock
}

// Times are ms.
const HANDSHAKE_TIMEOUT = 5_000

const LIMITS = {
  'grpc.enable_channelz': 0,
  'grpc.max_receive_message_length': MAX_REQUEST,
  // A client needs one.
  'grpc.max_concurrent_streams': 16,
  // A connection without a stream, and one whose other end does not answer pings.
  'grpc.max_connection_idle_ms': 75_000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
}

/**
 * Starts a port for ORCA's reports out of band, by gRPC. The listening is the agent's own, as for its other servers: grpc-js's
 * bounds neither connections nor handshakes, and would keep the process alive.
 * @throws ListenError (rejects)
 * @throws OptionError (rejects) for a key and a certificate that are of no use
 */
export async function startGrpcServer(options: StartGrpcOptions, reporter: Reporter): Promise<GrpcServer> {
  const { Server, ServerCredentials } = await loadGrpc()
  const service = createOrcaService(options, reporter, options.clock)
  const counters = Object.assign(service.counters, {
    badConnections: 0,
    dropped: 0,
    acceptErrors: 0,
    floods: 0,
  })

  const server = new Server(LIMITS)
  server.addService(service.definition, service.implementation)
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())

  const listener = options.tls === undefined ? createServer() : tlsServer(options.tls)
  const limits = new ClientLimits(options, options.clock)
  listener.on('connection', (socket) => {
    if (limits.mayConnect()) return
    counters.dropped++
    socket.destroy()
  })
  const listening = listen(listener, options, counters)
  // Behind the listener that drops connections.
  listener.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket) => {
    if (socket.destroyed) return
    injector.injectConnection(new MeteredSocket(socket, limits.meter(), () => counters.floods++))
  })
  listener.on('tlsClientError', () => counters.badConnections++)
  const { close, ...address } = await listening
  return {
    address,
    counters,
    async close() {
      await Promise.all([service.close(), close()])
      injector.destroy()
      server.forceShutdown()
    },
  }
}

function tlsServer({ key, cert, ca, requestCert = false }: ServerTls): TcpServer {
  try {
    return createTlsServer({
      handshakeTimeout: HANDSHAKE_TIMEOUT,
      key: pemBuffers(key),
      cert: pemBuffers(cert),
      ca: ca && pemBuffers(ca),
      requestCert,
      rejectUnauthorized: requestCert,
      ALPNProtocols: ['h2'],
    })
  } catch (error) {
    throw new OptionError(
      'grpc.tls',
      HIDDEN,
      `a key and a certificate in PEM that belong together (${reasonOf(error)})`,
    )
  }
}
