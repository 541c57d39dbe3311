import { type EngineCore, FACT_BAND, type Learner, type View } from '../engine/engine.js'
import { CoreView, type CoreViewOptions, glimpseOfGeneration } from './core-view.js'
import type { Draws, Guard } from './guard.js'
import { PairBlock } from './pair-block.js'

/** Decisions in the first block after a refresh, and at most: blocks grow while nothing changes. */
const FIRST_BLOCK = 32
const LARGEST_BLOCK = 1024

/** Somebody who acts on picks, but later: `wake` is called at a pick where it is not `awake`, and makes it so. */
export interface PickWatcher {
  readonly awake: boolean
  wake(): void
}

const NO_ONE = new Uint32Array(0)

export interface PicksOptions extends CoreViewOptions {
  /** Called before each look at members and readings. */
  readonly onRefresh?: (() => void) | undefined
}

/**
 * Picks from blocks of decisions that the engine draws ahead. A block is thrown away, and the generator taken back to
 * the first decision that was not used, as soon as the table's generation moves: the sequence is the one that single
 * picks would give.
 */
export class Picks implements Draws {
  /** Decisions used so far, but for those of the current block. */
  used = 0
  /** The same by index; another array, as long as they, has to be put here when members are taken. */
  counts = new Float64Array(0)
  /** Woken by picks, where the core is live. */
  watcher: PickWatcher | undefined
  // What `next` reads comes first and is plain: it is the hot path.
  private position = 0
  private drawn = 0
  private block: Uint32Array
  private readonly header: Int32Array
  private readonly live: CoreView
  private readonly core: EngineCore
  private readonly blocks: readonly Uint32Array[]
  private nextBlock = 0
  // Draws of a live core can't be made ahead.
  private readonly isLive: boolean
  private readonly learner: Learner | undefined
  private guard: Guard | undefined
  private readonly onRefresh: (() => void) | undefined
  // But pairs can be, where the core compares such: which it does or not is asked once a refresh.
  private readonly pairs: PairBlock | undefined
  private mayDrawPairs = false

  constructor(options: PicksOptions) {
    this.header = options.memory.header
    this.live = new CoreView(options)
    this.core = options.core
    const space = new Uint32Array(LARGEST_BLOCK)
    this.isLive = options.core.live
    this.learner = options.core.learner
    this.onRefresh = options.onRefresh
    if (this.isLive && options.core.fillPairs !== undefined) {
      this.pairs = new PairBlock(options.core, options.memory)
    }
    this.blocks = blockSizes().map((size) => space.subarray(0, size))
    this.block = this.blocks[0] as Uint32Array
  }

  /** The next decision: a member's index, -1 where none is eligible, or an `unknownDraw`. */
  next(): number {
    if (glimpseOfGeneration(this.header) === this.live.generation) {
      // Signed: a draw that failed is below zero.
      if (this.position < this.drawn) return (this.block[this.position++] as number) | 0
      if (this.isLive) return this.nextLive()
    }
    return this.slowNext()
  }

  /** The same for a pick that is no lease: nobody will tell how it ended. */
  nextAlone(): number {
    const index = this.next()
    if (this.learner !== undefined && index >= 0) this.sentAlone(this.learner, index)
    return index
  }

  /** Fills `into` with the next decisions, as `next` gives them, modulo 2^32. Returns how many: all, or 0 where no member is eligible. */
  fill(into: Uint32Array): number {
    this.bringUpToDate()
    if (this.guard !== undefined) return this.fillGuarded(into)
    if (this.isLive) this.giveBack()
    const waiting = Math.min(this.drawn - this.position, into.length)
    for (let i = 0; i < waiting; i++) into[i] = this.block[this.position + i] as number
    this.position += waiting
    if (waiting === into.length) return waiting
    this.useUp()
    const rest = waiting === 0 ? into : into.subarray(waiting)
    const drawn = this.core.fill(rest)
    this.count(rest, drawn)
    return waiting + drawn
  }

  /** One decision as though the members at `excluded` were not up, -1, or an `unknownDraw`. */
  nextExcluding(excluded: Uint32Array, isLease: boolean): number {
    this.bringUpToDate()
    this.giveBack()
    const index = this.countOne(this.guard?.pick(this, excluded) ?? this.core.pickExcluding(excluded))
    if (this.learner !== undefined && !isLease && index >= 0) this.sentAlone(this.learner, index)
    return index
  }

  /** Has each pick looked at by a guard from now on, or by none. */
  guardBy(guard: Guard | undefined): void {
    if (guard === this.guard) return
    this.giveBack()
    this.guard = guard
    // So that no pick is made on the short way.
    this.live.isWatched = guard !== undefined
    this.live.invalidate()
  }

  /** What the algorithm takes each member for, as of the view. */
  get values(): Float64Array {
    return this.live.view.values
  }

  get band(): number {
    return this.live.view.facts[FACT_BAND] as number
  }

  get revision(): number {
    return this.live.revision
  }

  /** One draw that is no pick yet. */
  draw(): number {
    if (this.isLive) return this.core.pick()
    if (this.position === this.drawn) this.refill()
    return this.drawn === 0 ? -1 : (this.block[this.position++] as number) | 0
  }

  /** One draw as though the members at `excluded` were not up, that is no pick yet. */
  drawBut(excluded: Uint32Array): number {
    this.giveBack()
    // As soon as this it may happen again.
    this.nextBlock = 0
    return this.core.pickExcluding(excluded)
  }

  /** Counts a pick that was made elsewhere. */
  picked(index: number, isLease: boolean): void {
    this.countOne(index)
    if (this.learner !== undefined && !isLease) this.learner.sent(index)
  }

  /** What a member said, for a core with a pool; see `EngineCore`. */
  probed(index: number, inFlight: number, latency: number, time: number): void {
    const at = this.core.probed?.(index, inFlight, latency, time)
    if (at !== undefined) this.live.expiresAt(at)
  }

  /** Decisions so far that were made at random for want of what members said. */
  get atRandom(): number {
    return this.core.atRandom?.() ?? 0
  }

  /** The view as of now, with all picks so far counted; do not keep it. */
  current(): View {
    // What is learned between publications shows in the view at a refresh alone.
    if (this.learner !== undefined || this.live.isStale(true)) this.refresh()
    else this.giveBack()
    return this.live.view
  }

  /** The chance of each member at the next pick, as of the view. */
  shares(): Float64Array {
    const shares = new Float64Array(this.live.view.values.length)
    this.core.fillShares(shares)
    return shares
  }

  /** Reports that the algorithm could not go by, as of the view. */
  get ignored(): number {
    return this.core.ignored ?? 0
  }

  /** Makes the next pick look at members and readings anew. */
  invalidate(): void {
    this.live.invalidate()
  }

  close(): void {
    this.live.close()
  }

  private nextLive(): number {
    const { pairs } = this
    if (pairs !== undefined && pairs.position < pairs.drawn) return pairs.next()
    return this.mayDrawPairs ? this.slowNext() : this.countOne(this.core.pick())
  }

  private slowNext(): number {
    this.bringUpToDate()
    if (this.guard !== undefined) return this.countOne(this.guard.pick(this, NO_ONE))
    if (this.isLive) return this.slowNextLive()
    if (this.position === this.drawn) {
      this.refill()
      if (this.drawn === 0) return -1
    }
    return (this.block[this.position++] as number) | 0
  }

  private refill(): void {
    this.useUp()
    this.block = this.blocks[this.nextBlock] as Uint32Array
    if (this.nextBlock < this.blocks.length - 1) this.nextBlock++
    this.drawn = this.core.fill(this.block)
  }

  private fillGuarded(into: Uint32Array): number {
    for (let i = 0; i < into.length; i++) {
      const index = this.nextAlone()
      if (index === -1) return i
      into[i] = index
    }
    return into.length
  }

  // Who was passed over for a small weight had its turn: else it would be drawn until it is picked.
  private sentAlone(learner: Learner, index: number): void {
    learner.sent(index)
    if (this.guard !== undefined) for (const passed of this.guard.passed) learner.sent(passed)
  }

  private slowNextLive(): number {
    const { pairs } = this
    if (pairs !== undefined && this.mayDrawPairs) {
      if (pairs.position < pairs.drawn) return pairs.next()
      this.useUp()
      if (pairs.fill()) return pairs.next()
      this.mayDrawPairs = false
    }
    return this.countOne(this.core.pick())
  }

  // The clock is looked at when a block is used up.
  private bringUpToDate(): void {
    const { pairs } = this
    const isUsedUp = this.position === this.drawn && pairs?.position === pairs?.drawn
    if (this.live.isStale(isUsedUp)) this.refresh()
  }

  private refresh(): void {
    this.giveBack()
    this.onRefresh?.()
    this.live.refresh()
    this.nextBlock = 0
    this.mayDrawPairs = this.pairs !== undefined
  }

  // The decisions that were not used are undrawn.
  private giveBack(): void {
    const { pairs } = this
    if (this.position < this.drawn) this.core.rewind(this.position)
    else if (pairs !== undefined && pairs.position < pairs.drawn) this.core.rewind(pairs.position)
    this.useUp()
    pairs?.startSmall()
  }

  private useUp(): void {
    // A guard's picks are counted one by one.
    if (this.position > 0 && this.guard === undefined) this.count(this.block, this.position)
    this.position = 0
    this.drawn = 0
    const { pairs } = this
    if (pairs === undefined || pairs.drawn === 0) return
    this.count(pairs.decisions, pairs.position)
    pairs.empty()
  }

  private count(decisions: Uint32Array, count: number): void {
    const { counts } = this
    let failed = 0
    for (let i = 0; i < count; i++) {
      const index = decisions[i] as number
      // Draws that failed are beyond all indices.
      if (index < counts.length) (counts[index] as number)++
      else failed++
    }
    this.used += count - failed
    this.wakeWatcher()
  }

  private countOne(index: number): number {
    if (index < 0) return index
    this.used++
    ;(this.counts[index] as number)++
    this.wakeWatcher()
    return index
  }

  private wakeWatcher(): void {
    const { watcher } = this
    if (watcher !== undefined && !watcher.awake) watcher.wake()
  }
}

function blockSizes(): number[] {
  const sizes: number[] = []
  for (let size = FIRST_BLOCK; size <= LARGEST_BLOCK; size *= 2) sizes.push(size)
  return sizes
}
