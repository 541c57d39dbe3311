import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { CallCredentials, ChannelCredentials } from '@grpc/grpc-js'
import type { GrpcModule } from '../optional-package.js'
import type { SecureContexts } from './secure-contexts.js'
import type { OrcaTarget } from './transports/orca.js'
import { withoutRef } from './without-ref.js'

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * Makes a channel's sockets known, so that they can be closed with it: the channel's own end waits for a peer that does
 * not go on with its handshake.
 */
export class OrcaSockets {
  readonly credentials: ChannelCredentials
  readonly #target: OrcaTarget
  readonly #contexts: SecureContexts
  readonly #sockets = new Set<Socket>()
  #closed = false

  constructor(
    { CallCredentials, ChannelCredentials }: GrpcModule,
    target: OrcaTarget,
    contexts: SecureContexts,
  ) {
    this.#target = target
    this.#contexts = contexts
    const connector = (): SecureConnector => this.#connector(CallCredentials.createEmpty())
    // Its base is known only here, where the library has been loaded.
    this.credentials = new (class extends ChannelCredentials {
      override _isSecure(): boolean {
        return target.secure
      }

      override _equals(other: ChannelCredentials): boolean {
        return this === other
      }

      override _createSecureConnector(): SecureConnector {
        return connector()
      }
    })()
  }

  /** Closes them, and those that come later. */
  close(): void {
    this.#closed = true
    for (const socket of this.#sockets) socket.destroy()
  }

  #connector(callCredentials: CallCredentials): SecureConnector {
    const { secure } = this.#target
    return {
      connect: async (plain) => {
        this.#keep(plain)
        return { socket: secure ? await this.#secured(plain) : plain, secure }
      },
      // A channel that is closed after a failure tries once more all the same.
      waitForReady: async () => this.#check(),
      getCallCredentials: () => callCredentials,
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
