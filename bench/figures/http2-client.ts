import { Duplex } from 'node:stream'

// Of HTTP/2's frames.
const DATA = 0
const HEADERS = 1
const SETTINGS = 4
const WINDOW_UPDATE = 8
const END_STREAM = 1
const END_HEADERS = 4
const FRAME_HEAD = 9

/** Bytes that the other side may send before it is told to go on: all that there are in HTTP/2. */
const WINDOW = 2 ** 31 - 1

function frame(type: number, flags: number, stream: number, content: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD)
  head.writeUIntBE(content.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, content])
}

// Written out and not remembered by the other side, so that any number of them can be sent again.
function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(headers).flatMap(([name, value]) => [
    Buffer.of(0, name.length),
    Buffer.from(name),
    Buffer.of(value.length),
    Buffer.from(value),
  ])
  return Buffer.concat(parts)
}

/**
 * A connection in memory to a server of HTTP/2 whose client sends the same request again and again, and takes what it gets
 * without a look but for where answers end: so that what is measured is the server.
 */
export class Http2Client extends Duplex {
  readonly #headers: Buffer
  readonly #body: Buffer
  #stream = -1
  #open = 0
  #over: () => void = () => {}
  // Of a frame that has not come whole.
  #rest: Buffer = Buffer.alloc(0)

  /** @param headers up to 127 bytes each, the names in small letters */
  constructor(headers: Readonly<Record<string, string>>, body: Buffer) {
    super()
    this.#headers = headerBlock(headers)
    this.#body = body
    const more = Buffer.alloc(4)
    more.writeUInt32BE(WINDOW - 65_535)
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    this.push(
      Buffer.concat([preface, frame(SETTINGS, 0, 0, Buffer.alloc(0)), frame(WINDOW_UPDATE, 0, 0, more)]),
    )
  }

  /** Sends so many requests at once; resolves when all are answered. */
  ask(requests: number): Promise<void> {
    return new Promise((resolve) => {
      this.#over = resolve
      this.#open = requests
      const frames: Buffer[] = []
      for (let i = 0; i < requests; i++) {
        this.#stream += 2
        frames.push(
          frame(HEADERS, END_HEADERS, this.#stream, this.#headers),
          frame(DATA, END_STREAM, this.#stream, this.#body),
        )
      }
      this.push(Buffer.concat(frames))
    })
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (bytes.length >= FRAME_HEAD && bytes.length >= FRAME_HEAD + bytes.readUIntBE(0, 3)) {
      const [type, flags] = [bytes[3], bytes[4] ?? 0]
      if ((type === HEADERS || type === DATA) && (flags & END_STREAM) !== 0) this.#open--
      bytes = bytes.subarray(FRAME_HEAD + bytes.readUIntBE(0, 3))
    }
    this.#rest = bytes
    done()
    if (this.#open === 0) this.#over()
  }
}
