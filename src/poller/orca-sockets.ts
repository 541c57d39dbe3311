import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CallCredentials, ChannelCredentials } from '@grpc/grpc-js'
import type { SecureContexts } from './secure-contexts.js'
import type { OrcaTarget } from './transports/orca.js'
import { withoutRef } from './without-ref.js'

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * Makes a channel's sockets known, so that they can be closed with it: the channel's own end waits for a peer that does
 * not go on with its handshake.
 */
export class OrcaSockets extends ChannelCredentials {
  readonly #target: OrcaTarget
  readonly #contexts: SecureContexts
  readonly #sockets = new Set<Socket>()
  #closed = false

  constructor(target: OrcaTarget, contexts: SecureContexts) {
    super()
    this.#target = target
    this.#contexts = contexts
  }

  /** Closes them, and those that come later. */
  close(): void {
    this.#closed = true
    for (const socket of this.#sockets) socket.destroy()
  }

  override _isSecure(): boolean {
    return this.#target.secure
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other
  }

  override _createSecureConnector(): SecureConnector {
    const { secure } = this.#target
    return {
      connect: async (plain) => {
        this.#keep(plain)
        return { socket: secure ? await this.#secured(plain) : plain, secure }
      },
      // A channel that is closed after a failure tries once more all the same.
      waitForReady: async () => this.#check(),
      getCallCredentials: () => CallCredentials.createEmpty(),
      destroy() {},
    }
  }

  #check(): void {
    if (this.#closed) throw new Error('closed')
  }

  // What was connecting when the channel was closed comes here too; where this throws the channel closes it.
  #keep(socket: Socket): void {
    this.#check()
    withoutRef(socket)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #secured(plain: Socket): Promise<Socket> {
    const { host, tls = {} } = this.#target
    return new Promise((resolve, reject) => {
      const socket = connectTls(
        {
          ...this.#contexts.connection(host, tls),
          socket: plain,
          ALPNProtocols: ['h2'],
        },
        () => {
          if (socket.alpnProtocol === 'h2') resolve(socket)
          else reject(new Error('it does not speak HTTP/2'))
        },
      )
      withoutRef(socket)
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('closed in the TLS handshake')))
    })
  }
}
