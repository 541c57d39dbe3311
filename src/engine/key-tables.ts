/** Points of a ring, and where to begin to look for one. */
export interface RingArrays {
  /** Two words a point: its hash, and its node's number. By hash, then by number. */
  readonly points: Uint32Array
  /** By the upper bits of a hash: the first point whose hash has these or greater ones; the number of points: none. */
  readonly index: Uint32Array
}

/** A cell of a Maglev table that no node has: where there are no nodes. */
export const NO_NODE = 0xffffffff

/**
 * Builds what keys are looked up in. Both engines build the same tables, bit for bit. `…Later` builds the same without
 * keeping this thread: on a thread of its own, or in slices between turns of the event loop.
 *
 * Nodes are numbers here, from 0, in an order that depends on the nodes alone; node i has the two hashes
 * `hashes[2i]` and `hashes[2i + 1]`. All numbers are unsigned and of 32 bits. The exact meaning of each table stands with
 * the code: `buildRing` in `src/algorithms/hash-ring/table.ts` and `buildMaglev` in `src/algorithms/maglev/table.ts`.
 */
export interface KeyTables {
  ring(hashes: Uint32Array, counts: Uint32Array): RingArrays
  ringLater(hashes: Uint32Array, counts: Uint32Array): Promise<RingArrays>
  /** @param weights above 0 and finite */
  cells(hashes: Uint32Array, weights: Float64Array, size: number): Uint32Array
  cellsLater(hashes: Uint32Array, weights: Float64Array, size: number): Promise<Uint32Array>
}
