import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { AccessLog } from './access-log.js'
import { openLog } from './source.js'

/** How a log is read. */
export interface ReadOptions {
  /** Of JSON lines: the field with the time. */
  readonly field?: string | undefined
  /** Told of the bytes read so far, as they are in the file. */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

/** Characters in a row, unpacked, without a line that gives a request: this is no log, such as /dev/zero. */
const MOST_JUNK = 2 ** 26

/** Requests of a log: more can't be simulated in a memory of usual size. */
const MOST_REQUESTS = 50_000_000

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
 * Reads an access log: a file, or standard input by `-`; also one that gzip wrote. Rejects where it can't be read (see `openLog`), and
 * where it goes on and on without a request, or with more than 50 million: it may have no end. Where
 * the compression is cut short or broken, what comes before is used, and the line in which it breaks off is a bad one; of data that
 * is wrong, and not just cut short, up to 16 KiB before that are lost with it.
 */
export async function readAccessLog(
  path: string,
  { field, onProgress }: ReadOptions = {},
): Promise<AccessLog> {
  const log = new AccessLog(field)
  const decoder = new StringDecoder('utf8')
  const raw = pieces(await openLog(path), onProgress)
  const first = await raw.next()
  if (first.done) return log
  const whole = Readable.from(
    (async function* () {
      yield first.value
      yield* raw
    })(),
  )
  let junk = 0
  // Throws where there is no sense in reading on: the input may have no end.
  function take(text: string): void {
    const { used } = log.counts
    log.write(text)
    junk = log.counts.used > used ? 0 : junk + text.length
    if (junk > MOST_JUNK)
      throw new Error(`no request in ${MOST_JUNK / 2 ** 20} MiB of it: this is no access log`)
    if (log.counts.used > MOST_REQUESTS) throw new Error(`it has more than ${MOST_REQUESTS} requests`)
  }
  // Takes each piece at once: of what a stream holds back nothing is left when it fails.
  const sink = new Writable({
    highWaterMark: 2 ** 20,
    write(piece: Buffer, _encoding, done) {
      try {
        take(decoder.write(piece))
        done()
      } catch (error) {
        done(error as Error)
      }
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
