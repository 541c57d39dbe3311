import type { KeyedDefinition } from '../algorithms/definition.js'
import { type KeyedAlgorithm, keyedOf } from '../algorithms/registry.js'
import type { KeyTables } from '../engine/key-tables.js'
import type { KeyNode, KeyTable } from '../keys/key-table.js'

/** Points or cells that are built at once, in less than half a millisecond; more are built in the background. */
const MOST_AT_ONCE = 8_192

/** Builds the tables of one algorithm by one engine. */
export class TableBuilder {
  readonly #algorithm: KeyedAlgorithm
  readonly #definition: KeyedDefinition<KeyedAlgorithm>
  readonly #tables: KeyTables

  constructor(algorithm: KeyedAlgorithm, tables: KeyTables) {
    this.#algorithm = algorithm
    this.#definition = keyedOf(algorithm)
    this.#tables = tables
  }

  /** Whether a table of so many nodes, with this sum of weights, is built so fast that picks may wait for it. */
  isFast(nodes: number, weight: number): boolean {
    return this.#definition.places(this.#algorithm, nodes, weight) <= MOST_AT_ONCE
  }

  /** A table of these nodes, which are in order. Throws TableError where it would be too large. */
  build(nodes: readonly KeyNode[]): KeyTable {
    return this.#definition.build(this.#algorithm, nodes, this.#tables)
  }

  /** The same, without keeping this thread. */
  async buildLater(nodes: readonly KeyNode[]): Promise<KeyTable> {
    return this.#definition.buildLater(this.#algorithm, nodes, this.#tables)
  }
}
