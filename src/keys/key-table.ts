import type { RingArrays } from '../engine/key-tables.js'

const HASHES = 2 ** 32

/** A node that keys can be looked up for. */
export interface KeyNode {
  /** What it is known by: the key of a member, which is the member's id unless it has another. */
  readonly id: string
  /** Two hashes of that. */
  readonly hashes: readonly [number, number]
  /** Above 0. */
  readonly weight: number
}

/** An order of nodes that depends on them alone: by their hashes, and where these are the same by id. */
export function inOrder(one: KeyNode, other: KeyNode): number {
  const first = one.hashes[0] - other.hashes[0]
  if (first !== 0) return first
  const second = one.hashes[1] - other.hashes[1]
  return second !== 0 ? second : one.id < other.id ? -1 : 1
}

/**
 * Where keys are looked up: a cycle of places, each of a node. A hash has a place, and whoever can't take a key lets it
 * walk on to the next one. Places are the points of a ring, or the cells of a Maglev table: one class for both, so that
 * picks by either go the same way.
 */
export class KeyTable {
  /** By number. */
  readonly nodes: readonly KeyNode[]
  /** Numbers of nodes by id. */
  readonly numbers: ReadonlyMap<string, number>
  /** How many places there are. */
  readonly length: number
  readonly #words: Uint32Array | Uint16Array
  // Undefined for a Maglev table.
  readonly #index: Uint32Array | undefined
  readonly #shift: number

  private constructor(
    nodes: readonly KeyNode[],
    length: number,
    words: Uint32Array | Uint16Array,
    index: Uint32Array | undefined,
  ) {
    this.nodes = nodes
    this.numbers = new Map(nodes.map(({ id }, i) => [id, i]))
    this.length = length
    this.#words = words
    this.#index = index
    this.#shift = index === undefined ? 0 : Math.clz32(index.length) + 1
  }

  static ofRing(nodes: readonly KeyNode[], { points, index }: RingArrays): KeyTable {
    return new KeyTable(nodes, points.length / 2, points, index)
  }

  static ofCells(nodes: readonly KeyNode[], cells: Uint32Array): KeyTable {
    // Half as long where that will do: more of it stays in the cache.
    const words = nodes.length <= 2 ** 16 ? new Uint16Array(cells) : cells
    return new KeyTable(nodes, nodes.length === 0 ? 0 : cells.length, words, undefined)
  }

  /** The place of a hash, signed or unsigned. Not to be called where there are no places. */
  placeOf(hash: number): number {
    const words = this.#words
    const index = this.#index
    // `| 0` outside makes it a division of whole numbers: what may be NaN, for a length of 0, would be one of doubles.
    if (index === undefined) return ((hash >>> 0) % (words.length >>> 0)) | 0
    let place = index[hash >>> this.#shift] as number
    while (place < this.length && (words[2 * place] as number) < hash >>> 0) place++
    return place === this.length ? 0 : place
  }

  /** The place after one. */
  after(place: number): number {
    return place + 1 === this.length ? 0 : place + 1
  }

  /** The number of the node that has a place. */
  nodeAt(place: number): number {
    return this.#words[this.#index === undefined ? place : 2 * place + 1] as number
  }

  /** The part of all hashes that has a place, 0-1. */
  shareOf(place: number): number {
    if (this.#index === undefined) return 1 / this.length
    if (this.length === 1) return 1
    const before = this.#words[2 * (place === 0 ? this.length - 1 : place - 1)] as number
    const space = (this.#words[2 * place] as number) - before
    return (place === 0 ? space + HASHES : space) / HASHES
  }
}

/** The hashes of nodes, as engines take them. */
export function hashesOf(nodes: readonly KeyNode[]): Uint32Array {
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

/** The weights of nodes. */
export function weightsOfNodes(nodes: readonly KeyNode[]): Float64Array {
  return Float64Array.from(nodes, ({ weight }) => weight)
}
