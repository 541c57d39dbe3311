import { type BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { TableMemory } from '../table/memory.js'
import { publish } from '../table/reading.js'
import { openChannel } from './channel.js'
import { glimpseOfGeneration } from './core-view.js'
import type { HandleMessage } from './handle.js'

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
    this.#channel = openChannel(channel)
    this.#channel.onmessage = (event) => this.#take((event as { data: HandleMessage }).data)
  }

  post(message: HandleMessage): void {
    this.#channel.postMessage(message)
  }

  /** Hears what was said until now, where anything was published since the last time. */
  catchUp(): void {
    if (this.#isTaking || !canReceive) return
    const generation = glimpseOfGeneration(this.#header)
    if (generation === this.#generation) return
    // First: what is heard may ask for more.
    this.#generation = generation
    while (this.#isOpen) {
      const message = receive(this.#channel)
      if (message === undefined) return
      this.#take(message)
    }
  }

  close(): void {
    this.#isOpen = false
    this.#channel.close()
  }
}

// Node.js takes channels here too, which its types do not know; Deno takes ports alone: there a turn has to come.
let canReceive = true

function receive(channel: BroadcastChannel): HandleMessage | undefined {
  try {
    return receiveMessageOnPort(channel as unknown as MessagePort)?.message as HandleMessage | undefined
  } catch {
    canReceive = false
    return undefined
  }
}

/** Says something on a channel, so that also those hear it that have no turn of their event loop. */
export function say(channel: BroadcastChannel, memory: TableMemory, message: HandleMessage): void {
  channel.postMessage(message)
  publish(memory)
}
