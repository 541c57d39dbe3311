import { reasonOf } from '../errors.js'
import { authority } from '../host.js'
import type { GrpcModule } from '../optional-package.js'
import { MAX_REPORT } from '../reports/orca-fields.js'
import { writeOrcaRequest } from '../reports/orca-request.js'
import type { Failure } from './answer.js'
import { OrcaSockets } from './orca-sockets.js'
import type { OrcaConnection, OrcaEvents } from './orca-stream.js'
import type { SecureContexts } from './secure-contexts.js'
import type { OrcaTarget } from './transports/orca.js'

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

// What gRPC puts around what is wrong, and when it was.
const AROUND = [
  /^No connection established\. Last error: (?:Error(?: \[\w+\])?: )?/,
  /\.? Resolution note: ?$/,
  / \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/,
]

function failureOf({ status }: GrpcModule, code: number, details: string): Failure {
  // These tell of a connection's end; others are the node's mistakes.
  const exits: readonly number[] = [status.OK, status.CANCELLED, status.DEADLINE_EXCEEDED, status.UNAVAILABLE]
  if (code === status.OK) return { kind: 'exit', reason: 'the node ended the stream' }
  const said = AROUND.reduce((text, around) => text.replace(around, ''), details)
  const reason = reasonOf(said === '' ? (status[code] ?? `status ${code}`) : said)
  // What is sent where there is no HTTP/2 is no answer either.
  const right = exits.includes(code) && !said.startsWith('Protocol error')
  return { kind: right ? 'exit' : 'error', reason }
}

/** Connects and asks for the stream, by a channel of its own. */
export function connectOrca(
  grpc: GrpcModule,
  target: OrcaTarget,
  contexts: SecureContexts,
  events: OrcaEvents,
): OrcaConnection {
  const { authorization, interval } = target
  const { Client, connectivityState, Metadata, status } = grpc
  const sockets = new OrcaSockets(grpc, target, contexts)
  const client = new Client(`dns:${authority(target)}`, sockets.credentials, OPTIONS)
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
    if (!closed) events.onEnd({ ...failureOf(grpc, code, details), final: code === status.UNIMPLEMENTED })
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
