/** Bytes before each message: whether it is compressed, and its length. */
const HEAD = 5

/** Frames a message as gRPC does, uncompressed. */
export function framedMessage(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(HEAD + message.length)
  framed.writeUInt32BE(message.length, 1)
  framed.set(message, HEAD)
  return framed
}

/** A message out of its frame. Throws an Error that says what is wrong with it. */
export function unframedMessage(framed: Uint8Array, limit: number): Uint8Array {
  checkHead(framed[0], framed.length - HEAD, limit)
  return framed.subarray(HEAD)
}

function checkHead(flag: number | undefined, length: number, limit: number): void {
  // No encoding was offered, so none may be used; and so there is nothing that could unpack to more than it is.
  if (flag !== 0) throw new Error('a compressed message, though no encoding was offered')
  if (length > limit) throw new Error(`a message of ${length} bytes: at most ${limit} are read`)
}

/** Takes gRPC's messages out of a stream of bytes. */
export class MessageReader {
  readonly #limit: number
  readonly #head = Buffer.alloc(HEAD)
  #inHead = 0
  // Of the message that has begun.
  #message = Buffer.alloc(0)
  #inMessage = 0

  /** @param limit longest message, bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Calls `onMessage` with each message that is complete, until that says no. Throws an Error that says why what comes is no
   * message.
   */
  take(chunk: Uint8Array, onMessage: (message: Uint8Array) => boolean): void {
    let at = 0
    while (at < chunk.length || this.#complete) {
      if (this.#complete) {
        const message = this.#message
        this.#inHead = 0
        if (!onMessage(message)) return
      } else if (this.#inHead < HEAD) {
        this.#head[this.#inHead++] = chunk[at++] as number
        if (this.#inHead === HEAD) this.#begin()
      } else {
        const part = chunk.subarray(at, at + this.#message.length - this.#inMessage)
        this.#message.set(part, this.#inMessage)
        this.#inMessage += part.length
        at += part.length
      }
    }
  }

  get #complete(): boolean {
    return this.#inHead === HEAD && this.#inMessage === this.#message.length
  }

  #begin(): void {
    const length = this.#head.readUInt32BE(1)
    checkHead(this.#head[0], length, this.#limit)
    this.#message = Buffer.alloc(length)
    this.#inMessage = 0
  }
}
