import { closeSync, openSync, readSync } from 'node:fs'

/**
 * Reads a file, but no more than `most` bytes and one: a device such as /dev/zero has no end. Throws as `openSync` and
 * `readSync` do.
 */
export function readBounded(path: string, most: number): Buffer {
  const from = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(most + 1)
    let length = 0
    while (length < bytes.length) {
      const more = readSync(from, bytes, length, bytes.length - length, null)
      if (more === 0) break
      length += more
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(from)
  }
}
