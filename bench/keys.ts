/** Keys as services have them, 11 characters each: so many that a service's are, and that they stay in the cache. */
export const KEYS: readonly string[] = Array.from(
  { length: 4096 },
  (_, i) => `user-${String(i).padStart(6, '0')}`,
)

/** Goes round in the keys. */
export class KeyTurn {
  #at = -1

  /** The next key. */
  next(): string {
    this.#at = (this.#at + 1) % KEYS.length
    return KEYS[this.#at] as string
  }
}
