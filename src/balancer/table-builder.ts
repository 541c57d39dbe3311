import type { KeyedAlgorithm } from '../algorithms/algorithm.js'
import { MOST_RING_POINTS } from '../algorithms/keyed.js'
import type { KeyTables } from '../engine/key-tables.js'
import { TableError } from '../errors.js'
import { type KeyNode, KeyTable } from '../keys/key-table.js'

/** Points or cells that are built at once, in less than half a millisecond; more are built in the background. */
const MOST_AT_ONCE = 8_192

/** Builds the tables of one algorithm by one engine. */
export class TableBuilder {
  readonly #algorithm: KeyedAlgorithm
  readonly #tables: KeyTables

  constructor(algorithm: KeyedAlgorithm, tables: KeyTables) {
    this.#algorithm = algorithm
    this.#tables = tables
  }

  /** Whether a table of so many nodes, with this sum of weights, is built so fast that picks may wait for it. */
  isFast(nodes: number, weight: number): boolean {
    const algorithm = this.#algorithm
    if (algorithm.kind === 'maglev') return algorithm.tableSize <= MOST_AT_ONCE
    return algorithm.points * weight + nodes <= MOST_AT_ONCE
  }

  /** A table of these nodes, which are in order. Throws TableError where a ring would have too many points. */
  build(nodes: readonly KeyNode[]): KeyTable {
    const algorithm = this.#algorithm
    const hashes = hashesOf(nodes)
    if (algorithm.kind === 'hashRing') {
      return KeyTable.ofRing(nodes, this.#tables.ring(hashes, this.#counts(nodes)))
    }
    return KeyTable.ofCells(nodes, this.#tables.maglev(hashes, weightsOf(nodes), algorithm.tableSize))
  }

  /** The same, without keeping this thread. */
  async buildLater(nodes: readonly KeyNode[]): Promise<KeyTable> {
    const algorithm = this.#algorithm
    const hashes = hashesOf(nodes)
    if (algorithm.kind === 'hashRing') {
      return KeyTable.ofRing(nodes, await this.#tables.ringLater(hashes, this.#counts(nodes)))
    }
    const { tableSize } = algorithm
    return KeyTable.ofCells(nodes, await this.#tables.maglevLater(hashes, weightsOf(nodes), tableSize))
  }

  // A node's points depend on its own weight alone, so that no other's keys move when it changes.
  #counts(nodes: readonly KeyNode[]): Uint32Array {
    const points = this.#algorithm.kind === 'hashRing' ? this.#algorithm.points : 0
    const counts = Uint32Array.from(nodes, ({ weight }) => Math.max(1, Math.floor(points * weight + 0.5)))
    const sum = counts.reduce((sum, count) => sum + count, 0)
    if (sum <= MOST_RING_POINTS) return counts
    throw new TableError(
      `the members of hashRing() have ${sum} points, and a ring at most ${MOST_RING_POINTS}: give it fewer points, or less weight`,
      sum,
    )
  }
}

function hashesOf(nodes: readonly KeyNode[]): Uint32Array {
  const hashes = new Uint32Array(2 * nodes.length)
  let at = 0
  for (const {
    hashes: [first, second],
  } of nodes) {
    hashes[at++] = first
    hashes[at++] = second
  }
  return hashes
}

function weightsOf(nodes: readonly KeyNode[]): Float64Array {
  return Float64Array.from(nodes, ({ weight }) => weight)
}
