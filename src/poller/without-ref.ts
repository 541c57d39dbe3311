import type { Socket } from 'node:net'

/**
 * Has a socket keep no process alive, as polling does not; for good, since undici refs that of a request in progress, and a
 * session of HTTP/2 its own while there is a stream.
 */
export function withoutRef(socket: Socket): Socket {
  socket.unref()
  socket.ref = () => socket
  return socket
}
