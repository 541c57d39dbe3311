import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

// Node.js tells here of each socket of a client, before it begins to connect.
const CHANNEL = 'net.client.socket'

/**
 * A connection in the making that can be given up. The client has no means for that, and where a server never answers
 * it leaves the socket open after its own time-out; so the sockets are found by the asynchronous context that they are
 * made in. It is followed no longer than this takes: that makes promises dearer for the whole thread.
 */
export class Attempt<T> {
  /** What came of it; where it failed, its sockets are closed. */
  readonly done: Promise<T>
  readonly #mine = new AsyncLocalStorage<true>()
  readonly #sockets = new Set<Socket>()
  #over = false

  constructor(connect: () => Promise<T>) {
    this.done = this.#run(connect)
  }

  /** Closes what is open, which makes it fail soon; whatever is opened yet is closed as well. */
  giveUp(): void {
    this.#over = true
    for (const socket of this.#sockets) socket.destroy()
  }

  async #run(connect: () => Promise<T>): Promise<T> {
    const onSocket = (message: unknown) => {
      if (this.#mine.getStore() === true) this.#take((message as { readonly socket: Socket }).socket)
    }
    subscribe(CHANNEL, onSocket)
    try {
      return await this.#mine.run(true, connect)
    } catch (error) {
      this.giveUp()
      throw error
    } finally {
      unsubscribe(CHANNEL, onSocket)
      this.#mine.disable()
    }
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket)
    // A socket that is closed before it connects is opened again by that.
    if (this.#over) queueMicrotask(() => socket.destroy())
  }
}
