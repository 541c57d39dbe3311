import type { Msg } from '@nats-io/transport-node'
import { NatsLink } from './link.js'
import { type NatsSettings, settingsName } from './settings.js'
import { idOf, wildcard } from './subject.js'

/** Whoever hears what is published. Its methods must not throw. */
export interface Listener {
  /** @param id undefined where the subject is for no node */
  hear(id: string | undefined, message: Uint8Array): void
  /** The connection has begun: only from now on silence means anything. */
  connected(): void
  /** There is no connection, and this is why; told at each attempt. */
  lost(reason: string): void
}

/** One subscription to all that is published below a subject, over a connection of its own, for any number of listeners. */
class NatsSubscription {
  readonly listeners = new Set<Listener>()
  readonly #subject: string
  readonly #link: NatsLink

  constructor(settings: NatsSettings) {
    this.#subject = settings.subject
    this.#link = new NatsLink({
      settings,
      name: 'idlest-balancer',
      onConnect: (connection) => {
        const callback = (error: Error | null, message: Msg): void => {
          // The link tells of errors.
          if (error === null) this.#hear(message)
        }
        connection.subscribe(wildcard(this.#subject), { callback })
        for (const listener of this.listeners) listener.connected()
      },
      onLost: (reason) => {
        for (const listener of this.listeners) listener.lost(reason)
      },
    })
  }

  /** Why there is no connection; undefined where there is one, or nothing is known yet. */
  get failure(): string | undefined {
    return this.#link.failure
  }

  get isConnected(): boolean {
    return this.#link.connection !== undefined
  }

  close(): void {
    void this.#link.close()
  }

  #hear({ subject, data }: Msg): void {
    const id = idOf(this.#subject, subject)
    for (const listener of this.listeners) listener.hear(id, data)
  }
}

// By their settings, of this thread.
const subscriptions = new Map<string, NatsSubscription>()

/** A listener's part in a subscription. */
export interface Subscribed {
  /** Why there is no connection; undefined where there is one, or nothing is known yet. */
  readonly failure: string | undefined
  /** Ends it; the connection ends with the last listener's. */
  close(): void
}

/**
 * Listens to all that is published; those of this thread with equal settings share a connection. Where there is one
 * already, the listener is told within this call.
 */
export function subscribe(settings: NatsSettings, listener: Listener): Subscribed {
  const name = settingsName(settings)
  const subscription = subscriptions.get(name) ?? new NatsSubscription(settings)
  subscriptions.set(name, subscription)
  subscription.listeners.add(listener)
  if (subscription.isConnected) listener.connected()
  return {
    get failure() {
      return subscription.failure
    },
    close() {
      if (!subscription.listeners.delete(listener) || subscription.listeners.size > 0) return
      subscriptions.delete(name)
      subscription.close()
    },
  }
}
