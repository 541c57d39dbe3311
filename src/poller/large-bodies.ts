/** Bodies of up to this many bytes are read as they come. */
const SMALL = 65_536

const waiting: (() => void)[] = []

function readNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(readNext)
}

/**
 * Reads a body: a small one at once, large ones one in each turn of the event loop. Otherwise some nodes with pages of
 * megabytes would hold up those whose small answers came meanwhile.
 * @param read does not throw
 */
export function readInTurn(bytes: number, read: () => void): void {
  if (bytes <= SMALL) {
    read()
    return
  }
  waiting.push(read)
  if (waiting.length === 1) setImmediate(readNext)
}
