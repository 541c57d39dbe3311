import type { TLSSocket } from 'node:tls'

/** Servers send one to four when the connection begins, and few ever another. */
const MOST = 32

/**
 * Bounds the session tickets of one connection: TLS takes them in without telling anyone who reads the connection, so that a
 * node could keep this thread busy with nothing else.
 */
export function boundTickets(socket: TLSSocket, onExcess: (reason: string) => void): void {
  let tickets = 0
  socket.on('session', () => {
    if (++tickets === MOST + 1) onExcess(`more than ${MOST} TLS session tickets`)
  })
}
