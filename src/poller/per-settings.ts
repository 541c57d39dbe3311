/** What is made once for all nodes with equal settings. */
export class PerSettings<S extends object, V> {
  readonly #nameOf: (settings: S) => string
  readonly #make: (settings: S) => V
  // The nodes of one message share the object, those of another have an equal one.
  readonly #same = new WeakMap<S, V>()
  readonly #equal = new Map<string, V>()

  /** @param nameOf the same for equal settings alone */
  constructor(nameOf: (settings: S) => string, make: (settings: S) => V) {
    this.#nameOf = nameOf
    this.#make = make
  }

  get(settings: S): V {
    let value = this.#same.get(settings)
    if (value === undefined) {
      value = this.#find(settings)
      this.#same.set(settings, value)
    }
    return value
  }

  /** All that was made. */
  values(): Iterable<V> {
    return this.#equal.values()
  }

  #find(settings: S): V {
    const name = this.#nameOf(settings)
    const value = this.#equal.get(name) ?? this.#make(settings)
    this.#equal.set(name, value)
    return value
  }
}
