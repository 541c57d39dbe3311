/** The two words that a generator starts from, of a dispatcher's seed. */
export function seedWords(seed: number): [number, number] {
  return [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0]
}
