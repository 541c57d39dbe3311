/** A server whose middleware can be changed, so that it is the same one with and without. */
export interface Switched {
  /** Undefined: none. */
  use(options: { readonly reuse?: number } | undefined): void
  /**
   * Has it serve some requests at once.
   * @param asking whether they ask for a report
   */
  turn(asking: boolean): Promise<void>
}
