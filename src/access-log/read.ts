import { createReadStream } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { AccessLog } from './access-log.js'

/** How a log is read. */
export interface ReadOptions {
  /** Of JSON lines: the field with the time. */
  readonly field?: string | undefined
  /** Told of the bytes read so far, as they are in the file. */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

/** The first two bytes of what gzip writes. */
function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

// Pieces of at least two bytes at first, so that gzip is known by them.
async function* pieces(source: AsyncIterable<Buffer>, onProgress: ReadOptions['onProgress']) {
  let first = Buffer.alloc(0)
  let isBegun = false
  let bytes = 0
  for await (const piece of source) {
    bytes += piece.length
    onProgress?.(bytes)
    if (isBegun) yield piece
    else {
      first = Buffer.concat([first, piece])
      if (first.length < 2) continue
      isBegun = true
      yield first
    }
  }
  if (!isBegun && first.length > 0) yield first
}

/**
 * Reads an access log: a file, or standard input by `-`; also one that gzip wrote. Rejects where it can't be read. Where
 * the compression is cut short or broken, what comes before is used, and the line in which it breaks off is a bad one; of data that
 * is wrong, and not just cut short, up to 16 KiB before that are lost with it.
 */
export async function readAccessLog(
  path: string,
  { field, onProgress }: ReadOptions = {},
): Promise<AccessLog> {
  const log = new AccessLog(field)
  const decoder = new StringDecoder('utf8')
  const source: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path)
  const raw = pieces(source, onProgress)
  const first = await raw.next()
  if (first.done) return log
  const whole = Readable.from(
    (async function* () {
      yield first.value
      yield* raw
    })(),
  )
  // Takes each piece at once: of what a stream holds back nothing is left when it fails.
  const sink = new Writable({
    highWaterMark: 2 ** 20,
    write(piece: Buffer, _encoding, done) {
      log.write(decoder.write(piece))
      done()
    },
  })
  try {
    if (isGzip(first.value)) await pipeline(whole, createGunzip(), sink)
    else await pipeline(whole, sink)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!(error instanceof Error) || !code?.startsWith('Z_')) throw error
    log.breakOff(`the compression breaks off here: ${error.message}`)
    return log
  }
  log.write(decoder.end())
  log.end()
  return log
}
