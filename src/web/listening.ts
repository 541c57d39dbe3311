import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { ListenError } from '../errors.js'

/** Where a server listens. */
export interface Address {
  /** As it was asked for. */
  readonly host: string
  /** The real one, also where 0 was asked for. */
  readonly port: number
}

/** A server that listens. */
export interface Listening extends Address {
  /** Ends the listening and all connections at once. Safe to call again. */
  close(): Promise<void>
}

export interface ListenOptions extends Address {
  /** Connections at a time. */
  readonly maxConnections: number
  /** Let the process end though the server and its connections are open. */
  readonly unref: boolean
}

/** What became of connections that got no further, counted on. */
export interface ListenCounters {
  /** Connections that were closed at once: one too many, of all or of those from one address. */
  dropped: number
  /** Connections that the system could not hand over, such as for want of file descriptors. */
  acceptErrors: number
}

/** The share of all connections that one address may have: a client that takes what it gets leaves room for others. */
const SHARE = 3 / 4

/**
 * Makes a server of node:net, node:http or node:https listen, and keeps account of its connections.
 * @throws ListenError (rejects) where it can't
 */
export async function listen(
  server: Server,
  { host, port, maxConnections, unref }: ListenOptions,
  counters: ListenCounters,
): Promise<Listening> {
  const sockets = new Set<Socket>()
  const perAddress = new Map<string, number>()
  const most = Math.ceil(maxConnections * SHARE)

  function open(socket: Socket): void {
    const { remoteAddress = '' } = socket
    const count = (perAddress.get(remoteAddress) ?? 0) + 1
    if (count > most) {
      counters.dropped++
      socket.destroy()
      return
    }
    if (unref) socket.unref()
    sockets.add(socket)
    perAddress.set(remoteAddress, count)
    socket.once('close', () => {
      sockets.delete(socket)
      const left = (perAddress.get(remoteAddress) ?? 0) - 1
      if (left > 0) perAddress.set(remoteAddress, left)
      else perAddress.delete(remoteAddress)
    })
  }

  // Node.js would throw it where nobody can catch it, and so end the process.
  if (!mayUseNetwork()) throw new ListenError(host, port, accessDenied())
  server.maxConnections = maxConnections
  server.on('connection', open)
  server.on('drop', () => counters.dropped++)
  if (unref) {
    server.unref()
    server.on('secureConnection', (socket: Socket) => socket.unref())
  }
  try {
    const listening = once(server, 'listening')
    server.listen({ host, port })
    await listening
  } catch (error) {
    throw new ListenError(host, port, error)
  }
  server.on('error', () => counters.acceptErrors++)
  let closed: Promise<void> | undefined
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve())
        // Answers are whole once they are begun; what is left are idle connections, slow ones and unfinished handshakes.
        for (const socket of sockets) socket.destroy()
      })
      return closed
    },
  }
}

function accessDenied(): Error {
  return Object.assign(new Error('the permission model allows no network'), { code: 'ERR_ACCESS_DENIED' })
}

// Before Node.js 25 the permission model knows nothing of networks, and says no to what it does not know.
function mayUseNetwork(): boolean {
  if (!process.allowedNodeEnvironmentFlags?.has('--allow-net')) return true
  const permission = process.permission as typeof process.permission | undefined
  return permission?.has('net') !== false
}
