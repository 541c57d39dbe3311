import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { noteBytesRead } from '../../balancer/failure-causes.js'

let isWatching = false

/**
 * Notes of each error that ends a connection how much had come over it. undici says so only of errors that it makes itself, and
 * hands on those of the system, such as ECONNRESET, as they are. Costs something for each connection, and nothing for a
 * request.
 */
export function watchConnections(): void {
  if (isWatching) return
  isWatching = true
  subscribe('undici:client:connected', (message) => {
    const { socket } = message as { readonly socket: Socket & { readonly alpnProtocol?: unknown } }
    // Before undici's own listener, by which requests fail.
    socket.prependListener('error', (error) => {
      // Over HTTP/2 something comes over every connection: settings.
      noteBytesRead(error, socket.alpnProtocol === 'h2' ? 0 : socket.bytesRead)
    })
  })
}
