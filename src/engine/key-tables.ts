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
 * `hashes[2i]` and `hashes[2i + 1]`. All numbers are unsigned and of 32 bits.
 *
 * - *Ring.* Node i has `counts[i]` points; the hash of point j is MurmurHash3_x86_32, seed 0, of the 12 bytes of
 *   `hashes[2i]`, j, `hashes[2i + 1]`, little-endian. Points are in the order of their hashes, those with one hash in
 *   that of their nodes, so that the first node has it. The index has `2^bits` entries,
 *   `bits = min(24, max(1, ceil(log2(points)) - 1))`: entry b is the number of points whose hash is below `b * 2^(32 - bits)`.
 *   What comes for a hash is the first point whose hash is not below it, else the first of all.
 * - *Maglev.* `size` is prime. Node i would have the cells `(offset + k * skip) % size`, k = 0, 1, ..., with
 *   `offset = hashes[2i] % size` and `skip = hashes[2i + 1] % (size - 1) + 1`: every cell once. In rounds r = 0, 1, ...
 *   the nodes take turns in their order, each with the first cell of its own that no one has, until all are taken. Where
 *   `share = weights[i] / greatest weight`, a node has a turn in round 0, and in round r where
 *   `floor(r * share) > floor((r - 1) * share)`. What comes for a hash is cell `hash % size`. Without nodes all cells
 *   are `NO_NODE`.
 */
export interface KeyTables {
  ring(hashes: Uint32Array, counts: Uint32Array): RingArrays
  ringLater(hashes: Uint32Array, counts: Uint32Array): Promise<RingArrays>
  /** @param weights above 0 and finite */
  cells(hashes: Uint32Array, weights: Float64Array, size: number): Uint32Array
  cellsLater(hashes: Uint32Array, weights: Float64Array, size: number): Promise<Uint32Array>
}
