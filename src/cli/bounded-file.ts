import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** How long a pipe may go without a byte, ms. */
const PIPE_WAIT = 10_000
/** How often a pipe that has nothing at the moment is looked at, ms. */
const LOOK_EVERY = 10

// A pipe without a writer would hold up the open. Windows has no such flag, and no pipes among its files.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

function isEmptyNow(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

// What a command such as `<(pass show key)` writes comes after a while.
function readSome(from: number, bytes: Buffer, length: number, wait: number): number {
  for (let waited = 0; ; waited += LOOK_EVERY) {
    try {
      return readSync(from, bytes, length, bytes.length - length, null)
    } catch (error) {
      if (!isEmptyNow(error)) throw error
      if (waited >= wait) throw new Error(`nothing came for ${wait / 1_000} s`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY)
    }
  }
}

/**
 * Reads a file, but no more than `most` bytes and one: a device such as /dev/zero has no end. A pipe that nobody writes to is
 * an error, at once or after 10 s. Throws as `openSync` and `readSync` do.
 * @param wait how long a pipe may go without a byte, ms
 */
export function readBounded(path: string, most: number, wait = PIPE_WAIT): Buffer {
  const from = openSync(path, READ)
  try {
    const bytes = Buffer.alloc(most + 1)
    let length = 0
    while (length < bytes.length) {
      const more = readSome(from, bytes, length, wait)
      if (more === 0) break
      length += more
    }
    if (length === 0 && fstatSync(from).isFIFO()) throw new Error('it is a pipe that nobody writes to')
    return bytes.subarray(0, length)
  } finally {
    closeSync(from)
  }
}
