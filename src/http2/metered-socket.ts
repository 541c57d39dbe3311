import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Looks at what comes; what is wrong with it where it is too much. */
export type Meter = (chunk: Uint8Array) => string | undefined

/**
 * A socket whose incoming bytes are looked at before anybody else has them. `node:http2` reads a socket natively, so that
 * JavaScript sees none of it; a stream of another kind it reads through JavaScript. What a meter refuses is never parsed, and
 * ends the connection.
 */
export class MeteredSocket extends Duplex {
  readonly #socket: Socket

  /** @param onExcess told why the meter refused, before the connection ends */
  constructor(socket: Socket, meter: Meter, onExcess: (reason: string) => void) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    // Whoever reads it may have gone when it fails.
    this.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      if (this.destroyed) return
      const excess = meter(chunk)
      if (excess === undefined) {
        if (!this.push(chunk)) socket.pause()
        return
      }
      onExcess(excess)
      this.destroy()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
    socket.pause()
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}
