import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  CallCredentials,
  ChannelCredentials,
  Client,
  connectivityState,
  Metadata,
  status,
} from '@grpc/grpc-js'
import { reasonOf } from '../errors.js'
import { authority } from '../host.js'
import { MAX_REPORT } from '../reports/orca-fields.js'
import { writeOrcaRequest } from '../reports/orca-request.js'
import type { Failure } from './answer.js'
import type { OrcaConnection, OrcaEvents } from './orca-stream.js'
import type { SecureContexts } from './secure-contexts.js'
import type { OrcaTarget } from './transports/orca.js'
import { withoutRef } from './without-ref.js'

// The one module of the poller that loads @grpc/grpc-js: it is imported when a node is to be asked by it.

/** Where the stream is. */
const STREAM_CORE_METRICS = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics'

/** Most memory of one connection, MB. */
const SESSION_MEMORY = 10

const OPTIONS = {
  // Connections that others of this process have to the same address are none of ours to close.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': MAX_REPORT,
  'grpc-node.max_session_memory': SESSION_MEMORY,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
  'grpc.service_config_disable_resolution': 1,
}

/** Statuses that tell of a connection's end; others are the node's mistakes. */
const EXITS: ReadonlySet<number> = new Set([
  status.OK,
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.UNAVAILABLE,
])

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * Makes a channel's sockets known, so that they can be closed with it: the channel's own end waits for a peer that does
 * not go on with its handshake.
 */
class OwnSockets extends ChannelCredentials {
  readonly #target: OrcaTarget
  readonly #contexts: SecureContexts
  readonly #sockets = new Set<Socket>()
  #closed = false

  constructor(target: OrcaTarget, contexts: SecureContexts) {
    super()
    this.#target = target
    this.#contexts = contexts
  }

  close(): void {
    this.#closed = true
    for (const socket of this.#sockets) socket.destroy()
  }

  override _isSecure(): boolean {
    return this.#target.secure
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other
  }

  override _createSecureConnector(): SecureConnector {
    const { secure } = this.#target
    return {
      connect: async (plain) => {
        this.#keep(plain)
        return { socket: secure ? await this.#secured(plain) : plain, secure }
      },
      // A channel that is closed after a failure tries once more all the same.
      waitForReady: async () => this.#check(),
      getCallCredentials: () => CallCredentials.createEmpty(),
      destroy() {},
    }
  }

  #check(): void {
    if (this.#closed) throw new Error('closed')
  }

  // What was connecting when the channel was closed comes here too; where this throws the channel closes it.
  #keep(socket: Socket): void {
    this.#check()
    withoutRef(socket)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #secured(plain: Socket): Promise<Socket> {
    const { host, tls = {} } = this.#target
    return new Promise((resolve, reject) => {
      const socket = connectTls(
        {
          ...this.#contexts.connection(host, tls),
          socket: plain,
          ALPNProtocols: ['h2'],
        },
        () => {
          if (socket.alpnProtocol === 'h2') resolve(socket)
          else reject(new Error('it does not speak HTTP/2'))
        },
      )
      withoutRef(socket)
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('closed in the TLS handshake')))
    })
  }
}

// What gRPC puts around what is wrong, and when it was.
const AROUND = [
  /^No connection established\. Last error: (?:Error(?: \[\w+\])?: )?/,
  /\.? Resolution note: ?$/,
  / \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/,
]

function failureOf(code: number, details: string): Failure {
  if (code === status.OK) return { kind: 'exit', reason: 'the node ended the stream' }
  const said = AROUND.reduce((text, around) => text.replace(around, ''), details)
  const reason = reasonOf(said === '' ? (status[code] ?? `status ${code}`) : said)
  // What is sent where there is no HTTP/2 is no answer either.
  const right = EXITS.has(code) && !said.startsWith('Protocol error')
  return { kind: right ? 'exit' : 'error', reason }
}

/** Connects and asks for the stream, by a channel of its own. */
export function connectOrca(
  target: OrcaTarget,
  contexts: SecureContexts,
  events: OrcaEvents,
): OrcaConnection {
  const { authorization, interval } = target
  const sockets = new OwnSockets(target, contexts)
  const client = new Client(`dns:${authority(target)}`, sockets, OPTIONS)
  const channel = client.getChannel()
  let closed = false
  let open = false

  function watch(): void {
    const state = channel.getConnectivityState(false)
    if (!open && state === connectivityState.READY) {
      open = true
      events.onOpen()
    } else if (open && state !== connectivityState.READY) {
      events.onLost()
      return
    }
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => {
      if (!closed) watch()
    })
  }

  const metadata = new Metadata()
  if (authorization !== undefined) metadata.set('authorization', authorization)
  const call = client.makeServerStreamRequest(
    STREAM_CORE_METRICS,
    (request: Buffer) => request,
    (report: Buffer) => report,
    Buffer.from(writeOrcaRequest({ interval })),
    metadata,
  )
  call.on('data', (report: Buffer) => {
    if (!closed) events.onMessage(report)
  })
  // Of an error the status tells too.
  call.on('error', () => {})
  call.on('status', ({ code, details }) => {
    if (!closed) events.onEnd({ ...failureOf(code, details), final: code === status.UNIMPLEMENTED })
  })
  watch()

  return {
    close() {
      if (closed) return
      closed = true
      call.cancel()
      // Not in the midst of what the channel tells: what it does next would bring it back to life. And before its
      // sockets, for it would connect anew.
      setImmediate(() => {
        client.close()
        sockets.close()
      })
    },
  }
}
