/** What is fuzzed: one reader. */
export interface Target {
  readonly name: string
  /** Words of its format. */
  readonly words: readonly string[]
  /**
   * Reads an input, and checks what came of it.
   * @returns whether it was read; false where the reader refused it as it should
   * @throws where the reader does anything else, or what it read is not as it should be
   */
  check(input: Uint8Array): boolean
}
