/** The most shorter inputs that are tried. */
const STEPS = 2000

/**
 * An input without what it need not have: pieces are left out, halves first and single bytes last.
 * @param keeps whether a shorter one still does what the input does
 */
export function shrunk(input: Uint8Array, keeps: (shorter: Uint8Array) => boolean): Uint8Array {
  let shortest = input
  let steps = 0
  for (let size = input.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < shortest.length && steps < STEPS; steps++) {
      const shorter = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + size)])
      if (keeps(shorter)) shortest = shorter
      else at += size
    }
  }
  return shortest
}
