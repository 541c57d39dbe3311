import type { Readable } from 'node:stream'

/** All that a stream holds, as text. One `read()` gives no more than one chunk from Node.js 26 on. */
export function written(stream: Readable): string {
  let text = ''
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += String(chunk)
  return text
}
