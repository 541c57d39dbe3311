import { closeSync, constants, createReadStream, open, readSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { promisify } from 'node:util'

/** How long a pipe may go without a byte, ms. */
const PIPE_WAIT = 30_000

/**
 * Opens a log: a file, or standard input by `-`, which may take as long as it likes. A pipe that is named as a file, such as
 * by `<(zcat *.gz)`, is an error where nobody writes to it: at once, or after 30 s without a byte. Rejects as `open` and `stat`
 * do.
 * @param wait how long a pipe may go without a byte, ms
 */
export async function openLog(path: string, wait = PIPE_WAIT): Promise<AsyncIterable<Buffer>> {
  if (path === '-') return process.stdin
  if (!(await stat(path)).isFIFO()) return createReadStream(path)
  // Without waiting for a writer: that would take one of libuv's threads for as long as there is none.
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const first = beginningOf(fd)
  if (first !== undefined) return piecesOf(fd, first, wait)
  closeSync(fd)
  throw new Error('it is a pipe that nobody writes to')
}

// Empty where a writer has written nothing yet, undefined where there is no writer. A process that waits until it can open the
// pipe for writing counts as one.
function beginningOf(fd: number): Buffer | undefined {
  const bytes = Buffer.alloc(1_024)
  try {
    const length = readSync(fd, bytes)
    return length === 0 ? undefined : bytes.subarray(0, length)
  } catch {
    // EAGAIN. What else there may be comes again, and is told then.
    return Buffer.alloc(0)
  }
}

async function* piecesOf(fd: number, first: Buffer, wait: number): AsyncGenerator<Buffer> {
  const pipe = new Socket({ fd, readable: true, writable: false })
  pipe.setTimeout(wait, () => pipe.destroy(new Error(`nothing came for ${wait / 1_000} s`)))
  if (first.length > 0) yield first
  for await (const piece of pipe) yield piece as Buffer
}
