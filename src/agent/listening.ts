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
  /** Let the process end though the server and its connections are open. */
  readonly unref: boolean
}

/**
 * Makes a server of node:net, node:http or node:https listen, and keeps account of its connections.
 * @throws ListenError (rejects) where it can't
 */
export async function listen(server: Server, { host, port, unref }: ListenOptions): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    if (unref) socket.unref()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
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

/** `host:port` as URLs have it. */
export function authority({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
