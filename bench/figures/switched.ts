/** A server whose middleware can be changed, so that it is the same one with and without. */
export interface Switched {
  /**
   * @param options undefined: none
   * @param asking whether requests ask for a report
   */
  use(options: { readonly reuse?: number } | undefined, asking: boolean): void
  /** Uses one that does nothing, where there are such whose mere presence costs something. */
  useEmpty?(): void
  /**
   * Has it serve some requests at once.
   * @param asking whether they ask for a report
   */
  turn(asking: boolean): Promise<void>
}
