import { setTimeout } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import type { TlsSettings } from '../client-tls.js'
import { reasonOf } from '../errors.js'
import { loadNats, type NatsModule } from '../optional-package.js'
import { type Pem, pemBuffers } from '../pem.js'
import { Attempt } from './attempt.js'
import type { NatsSettings } from './settings.js'

const CLOSED = 'the server closed the connection'
const TIMES = { timeout: 5_000, ping: 5_000, retry: 1_000 }

/** What a link is told, and whom it tells. */
export interface LinkOptions {
  readonly settings: NatsSettings
  /** What servers call this client, for their operators. */
  readonly name: string
  /** A connection has begun: time to subscribe. */
  readonly onConnect: (connection: NatsConnection) => void
  /** An attempt has failed, or a connection was lost; told each time. */
  readonly onLost?: ((reason: string) => void) | undefined
  /** The server refuses what is published, and the connection goes on. One that it refuses to subscribe ends. */
  readonly onRefused?: ((reason: string) => void) | undefined
  /** Longest wait for a server to take the connection, ms. Default 5,000. */
  readonly timeout?: number | undefined
  /** A server that leaves two pings of this interval, ms, without an answer is gone. Default 5,000: after 10 to 15 s. */
  readonly ping?: number | undefined
  /**
   * Shortest wait before the next attempt, ms; up to as much again is added by chance, lest a fleet come back all at
   * once. Default 1,000.
   */
  readonly retry?: number | undefined
}

// Several in one text are as good as an array, which the client's type does not have.
function textOf(pem: Pem | undefined): string | undefined {
  return pem && pemBuffers(pem).join('\n')
}

function tlsOptions({ ca, cert, key, servername, rejectUnauthorized = true }: TlsSettings) {
  const named = servername === undefined ? {} : { servername }
  return { ca: textOf(ca), cert: textOf(cert), key: textOf(key), rejectUnauthorized, ...named }
}

/**
 * A connection to NATS that comes again for ever, until it is closed. Nothing that happens to it is thrown.
 *
 * Each connection is a new one. The client could connect again by itself, but then tells nobody why it does not succeed,
 * and can't be stopped while it tries.
 */
export class NatsLink {
  /** Connections so far. */
  connections = 0
  readonly #options: LinkOptions & typeof TIMES
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #attempt: Attempt<NatsConnection> | undefined
  #connection: NatsConnection | undefined
  #failure: string | undefined

  constructor(options: LinkOptions) {
    this.#options = { ...TIMES, ...options }
    this.#ended = this.#run()
  }

  /** The connection, while there is one. */
  get connection(): NatsConnection | undefined {
    return this.#connection
  }

  /** Why there is no connection; undefined where there is one, or nothing is known yet. */
  get failure(): string | undefined {
    return this.#connection === undefined ? this.#failure : undefined
  }

  /** Ends it. Safe to call again. */
  close(): Promise<void> {
    this.#closing.abort()
    this.#attempt?.giveUp()
    this.#connection?.close().catch(() => {})
    return this.#ended
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted
  }

  async #run(): Promise<void> {
    const client = await loadNats()
    while (!this.#closed) {
      try {
        await this.#live(client, await this.#connect(client))
        this.#fail(CLOSED)
      } catch (error) {
        this.#fail(this.#reasonOf(client, error))
      }
      // In real time, as the network is; and it keeps the process alive, as a connection does.
      const wait = this.#options.retry * (1 + Math.random())
      await setTimeout(wait, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
  }

  #reasonOf(client: NatsModule, error: unknown): string {
    if (error instanceof client.TimeoutError) return `no answer within ${this.#options.timeout} ms`
    const reason = reasonOf(error)
    // What the client says of a socket that was closed without any error.
    return reason.endsWith('an undefined error') ? CLOSED : reason
  }

  #fail(reason: string): void {
    if (this.#closed) return
    this.#failure = reason
    this.#options.onLost?.(reason)
  }

  async #connect({ connect, credsAuthenticator }: NatsModule): Promise<NatsConnection> {
    const { settings, name, timeout, ping } = this.#options
    const { servers, token, user, password, credentials, tls } = settings
    this.#attempt = new Attempt(() =>
      connect({
        servers: [...servers],
        name,
        token,
        user,
        pass: password,
        ...(credentials === undefined
          ? {}
          : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
        ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
        timeout,
        pingInterval: ping,
        reconnect: false,
        ignoreClusterUpdates: true,
      }),
    )
    try {
      return await this.#attempt.done
    } finally {
      this.#attempt = undefined
    }
  }

  /** Resolves when the connection has ended, rejects where it is known why. */
  async #live(client: NatsModule, connection: NatsConnection): Promise<void> {
    let error: unknown
    let stale = false
    try {
      if (this.#closed) return
      this.connections++
      this.#connection = connection
      this.#options.onConnect(connection)
      for await (const status of connection.status()) {
        if (status.type === 'staleConnection') stale = true
        else if (status.type === 'disconnect' || status.type === 'close') this.#connection = undefined
        else if (status.type === 'error' && status.error instanceof client.PermissionViolationError) {
          if (status.error.operation === 'subscription') throw status.error
          this.#options.onRefused?.(status.error.message)
        }
      }
      error = await connection.closed()
    } finally {
      this.#connection = undefined
      await connection.close()
    }
    if (error !== undefined) throw error
    if (stale) throw new Error('pings were not answered')
  }
}
