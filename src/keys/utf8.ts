const encoder = new TextEncoder()

const FIRST_BYTES = 256

/** At most so many bytes for each UTF-16 unit. */
const BYTES_A_UNIT = 3

/** The bytes of the text that was encoded last, and room behind them. */
let bytes = new Uint8Array(FIRST_BYTES)

/** What `encode` wrote to: read it before the next call. */
export function encoded(): Uint8Array {
  return bytes
}

/**
 * Writes a text as UTF-8, where `encoded` has it. Returns how many bytes it is. Half a surrogate pair counts as U+FFFD,
 * as with every `TextEncoder`.
 */
export function encode(text: string): number {
  const { length } = text
  if (bytes.length < length * BYTES_A_UNIT) bytes = new Uint8Array(length * BYTES_A_UNIT)
  // A loop is several times faster than the encoder for short texts, and nearly all keys are ASCII.
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) return encoder.encodeInto(text, bytes).written
    bytes[i] = unit
  }
  return length
}
