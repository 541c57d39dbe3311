import type { EngineCore } from '../engine/engine.js'
import * as layout from '../engine/pair-layout.js'
import { COUNT_BITS } from '../table/layout.js'
import type { TableMemory } from '../table/memory.js'

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const BITS = COUNT_BITS
const WORDS = layout.PAIR_WORDS
const FIRST = layout.FIRST
const FIRST_WINS = layout.FIRST_WINS
const SECOND = layout.SECOND
const FIRST_VALUE = layout.FIRST_VALUE
const SECOND_VALUE = layout.SECOND_VALUE

/** Pairs in the first block after a refresh, and at most: no more than that their counts stay in the nearest cache. */
const FEWEST = 8
const MOST = 128

/**
 * Pairs of members that an engine draws ahead, by the block: where their requests in flight are counted, and who goes first
 * in a tie. What is in flight is looked at when it comes to the pick, here, where a plain read costs a tenth of a call
 * into native code. By then it is in the cache, since drawing a block has touched it all.
 */
export class PairBlock {
  /** Whom the picks so far have taken. */
  readonly decisions = new Uint32Array(MOST)
  /** Picks so far, and at most. */
  position = 0
  drawn = 0
  private readonly core: EngineCore
  private readonly memory: TableMemory
  private readonly pairs = new Int32Array(MOST * WORDS)
  private readonly values = new Float64Array(this.pairs.buffer)
  private readonly blocks: readonly Uint32Array[]
  private nextBlock = 0
  // As of the last fill: the table may have grown since, but not moved.
  private words: Int32Array

  constructor(core: EngineCore, memory: TableMemory) {
    this.core = core
    this.memory = memory
    this.words = memory.words
    this.blocks = sizes().map((size) => new Uint32Array(this.pairs.buffer, 0, size * WORDS))
  }

  /** Draws the next block. False where the core's draws are not of pairs now. */
  fill(): boolean {
    this.words = this.memory.words
    this.position = 0
    this.drawn = this.core.fillPairs?.(this.blocks[this.nextBlock] as Uint32Array) ?? 0
    if (this.nextBlock < this.blocks.length - 1) this.nextBlock++
    return this.drawn > 0
  }

  /** The member with less in flight of the next pair. Not to be called where there is none. */
  next(): number {
    const { pairs, words } = this
    const at = this.position * WORDS
    let one = (words[pairs[at + FIRST + 1] as number] as number) ^ (pairs[at + FIRST + 2] as number)
    let other = (words[pairs[at + SECOND + 1] as number] as number) ^ (pairs[at + SECOND + 2] as number)
    // With the tag of another node this is no count.
    if (one >>> BITS !== 0) one = 0
    if (other >>> BITS !== 0) other = 0
    const tie = pairs[at + FIRST_WINS] as number
    // All ones where it is the first, else zeros. Whole numbers, and no branch: no processor can foresee which it will be.
    const isFirst = this.hasValues(at) ? this.compare(one, other, tie) : (one - other - tie) >> 31
    const first = pairs[at + FIRST] as number
    const second = pairs[at + SECOND] as number
    const index = second ^ ((first ^ second) & isFirst)
    this.decisions[this.position++] = index
    return index
  }

  private hasValues(at: number): boolean {
    const { pairs } = this
    const values =
      (pairs[at + FIRST_VALUE] as number) |
      (pairs[at + FIRST_VALUE + 1] as number) |
      (pairs[at + SECOND_VALUE] as number) |
      (pairs[at + SECOND_VALUE + 1] as number)
    return values !== 0
  }

  // The same where something is reported of one of them.
  private compare(one: number, other: number, tie: number): number {
    const place = this.position * (WORDS / 2)
    const load = Math.max(one, this.values[place + FIRST_VALUE / 2] as number)
    const otherLoad = Math.max(other, this.values[place + SECOND_VALUE / 2] as number)
    return load < otherLoad || (load === otherLoad && tie === 1) ? -1 : 0
  }

  /** Forgets the pairs. */
  empty(): void {
    this.position = 0
    this.drawn = 0
  }

  /** Has blocks start small again: what made the last one useless may come again soon. */
  startSmall(): void {
    this.nextBlock = 0
  }
}

function sizes(): number[] {
  const sizes: number[] = []
  for (let size = FEWEST; size <= MOST; size *= 2) sizes.push(size)
  return sizes
}
