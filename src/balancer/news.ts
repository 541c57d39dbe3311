import { BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { TableMemory } from '../table/memory.js'
import { publish } from '../table/reading.js'
import type { HandleMessage } from './handle.js'
import { glimpseOfGeneration } from './live-view.js'

/**
 * What the balancer of another thread says. It is heard as the event loop turns, and at picks: a thread that sleeps by
 * `Atomics.wait` between its tasks, as those of Piscina do, may never have a turn. Who says something publishes after
 * it, so that a look at the table's generation tells whether there is something to hear.
 */
export class News {
  readonly #channel: BroadcastChannel
  readonly #header: Int32Array
  readonly #take: (message: HandleMessage) => void
  #generation: number
  #isOpen = true
  // What is taken looks whether there is more: that would overtake it.
  #isTaking = false

  /** @param take is given each message, in the order they were sent */
  constructor(channel: string, { header }: TableMemory, take: (message: HandleMessage) => void) {
    this.#header = header
    this.#take = (message) => {
      this.#isTaking = true
      try {
        take(message)
      } finally {
        this.#isTaking = false
      }
    }
    this.#generation = glimpseOfGeneration(header)
    this.#channel = new BroadcastChannel(channel)
    this.#channel.unref()
    this.#channel.onmessage = (event) => this.#take((event as { data: HandleMessage }).data)
  }

  post(message: HandleMessage): void {
    this.#channel.postMessage(message)
  }

  /** Hears what was said until now, where anything was published since the last time. */
  hear(): void {
    if (this.#isTaking) return
    const generation = glimpseOfGeneration(this.#header)
    if (generation === this.#generation) return
    // First: what is heard may ask for more.
    this.#generation = generation
    while (this.#isOpen) {
      // Node.js takes both; its types know of ports alone.
      const received = receiveMessageOnPort(this.#channel as unknown as MessagePort)
      if (received === undefined) return
      this.#take((received as { message: HandleMessage }).message)
    }
  }

  close(): void {
    this.#isOpen = false
    this.#channel.close()
  }
}

/** Says something on a channel, so that also those hear it that have no turn of their event loop. */
export function say(channel: BroadcastChannel, memory: TableMemory, message: HandleMessage): void {
  channel.postMessage(message)
  publish(memory)
}
