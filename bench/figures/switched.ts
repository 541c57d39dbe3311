/** A server whose middleware can be changed, so that it is the same one with and without. */
export interface Switched {
  /** Goes without. */
  none(): void
  /**
   * Makes a middleware, once for all: what the compiler learns of it stays.
   * @param asking whether requests are to be given a report
   * @returns uses it from now on
   */
  make(options: { readonly reuse?: number }, asking: boolean): () => void
  /** Uses one that does nothing, where there are such whose mere presence costs something. */
  empty?(): void
  /**
   * Has it serve some requests at once.
   * @param asking whether they ask for a report
   */
  turn(asking: boolean): Promise<void>
}
