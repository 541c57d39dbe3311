import type { ConnectionLike, ResponseLike } from './exchange.js'

type Waiting = Map<ResponseLike, () => void>

const waitingOn = new WeakMap<ConnectionLike, Waiting>()

function waitOn(connection: ConnectionLike): Waiting {
  const waiting: Waiting = new Map()
  waitingOn.set(connection, waiting)
  // One listener a connection: Node.js warns where there are many.
  connection.once('close', () => {
    for (const closed of waiting.values()) closed()
    waiting.clear()
  })
  return waiting
}

/** Calls `closed` when a connection closes before the response to one of its requests is over. */
export function onceClosed(connection: ConnectionLike, response: ResponseLike, closed: () => void): void {
  const waiting = waitingOn.get(connection) ?? waitOn(connection)
  waiting.set(response, closed)
  response.on('close', () => waiting.delete(response))
}
