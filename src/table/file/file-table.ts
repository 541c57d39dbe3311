import type { TimerHandle } from '../../clock.js'
import { shown } from '../../errors.js'
import type { PlacedTold } from '../../poller/told.js'
import { processClock } from '../../process-clock.js'
import { warn } from '../../warn.js'
import { NO_SLOT } from '../layout.js'
import { type Entry, Table, type TableSource } from '../table.js'
import { Directory, type Seat } from './directory.js'
import { type Election, Groups } from './groups.js'
import { DEFAULT_NODES, PATIENCE, SWEPT_WORD } from './layout.js'
import { Rows } from './rows.js'
import { Sweep } from './sweep.js'
import { TableFile } from './table-file.js'
import { ToldWords } from './told.js'

/** How often what other processes did is looked at, ms. */
const LOOK_EVERY = 200
/** How often one of them looks for processes that died, ms. */
const SWEEP_EVERY = 1_000
/** How often a file is looked for at its path, ms. */
const VISIT_EVERY = 5_000

/** How long the next step of something that takes longer than one waits, ms. */
const NEXT_STEP = 10
/** How long one step may keep the thread and the lock, ms. */
const STEP = 1
/** Looks for which nodes may wait for a slot before that is warned of. */
const LOOKS_BEFORE_WARNING = 10

type Listener = (told: readonly PlacedTold[]) => void
type SeatedListener = (entries: readonly Entry[]) => void

/** A table in a file: processes of one machine share it, readings and requests in flight. */
export class FileTable extends Table {
  readonly #file: TableFile
  readonly #directory: Directory
  readonly #rows: Rows
  readonly #told: ToldWords
  readonly #groups: Groups
  readonly #sweep: Sweep
  // Of this thread's balancers.
  readonly #own = new Map<string, Entry>()
  // Those among them that wait for a slot.
  readonly #waiting = new Set<string>()
  readonly #listeners = new Set<Listener>()
  readonly #seatedListeners = new Set<SeatedListener>()
  readonly #sweptAt: Float64Array
  // Nodes that this thread has no more.
  #leaving: Entry[] = []
  // Slots that may have no member any more.
  #vacated: number[] = []
  #isLeavingSoon = false
  #visitAt = Number.NEGATIVE_INFINITY
  #looksWaited = 0
  #hasWarned = false
  #hasWarnedOfLock = false

  /**
   * Opens the file, or makes it.
   *
   * Throws TableError where it can't be used, EngineError where there is no addon.
   */
  constructor(path: string, nodes: number | undefined) {
    const file = new TableFile(path, nodes, DEFAULT_NODES)
    super(processClock, file.memory)
    this.#file = file
    this.#told = new ToldWords(file)
    this.#directory = new Directory(file, (slot) => this.#told.clear(slot))
    this.#sweptAt = new Float64Array(file.shared, SWEPT_WORD * 4, 1)
    this.#rows = new Rows(file)
    this.#sweep = new Sweep(file, this.#directory, this.#rows)
    this.#takeRow()
    this.#directory.look()
    this.#clearIfAlone()
    this.#sweepInTime(processClock.now())
    this.#groups = new Groups(file, this.#directory, this.#rows)
    lookAgain(new WeakRef(this), LOOK_EVERY)
  }

  override places(): IterableIterator<Entry> {
    return entriesOf(this.#directory, this.#own)
  }

  override get size(): number {
    return [...this.#directory.seats()].length
  }

  override find(id: string): Entry | undefined {
    const seat = this.#own.get(id) ?? this.#directory.find(id)
    return seat && asEntry(seat)
  }

  override get source(): TableSource {
    return this.#file.source
  }

  override share(): TableSource {
    return this.#file.source
  }

  override claim(id: string): Entry {
    return this.claimAll([id])[0] as Entry
  }

  /**
   * Gives the nodes their slots. Where another process keeps the file's lock, since it was stopped, they get none yet: an
   * entry without a slot is replaced by one that has it as soon as that can be, and the listeners of `onSeated` are called.
   */
  override claimAll(ids: readonly string[]): Entry[] {
    const joining = ids.filter((id) => !this.#own.has(id))
    if (joining.length > 0) {
      if (this.#file.lost) throw this.#file.fault('it was cut short while it was in use')
      for (const id of joining) this.#directory.checkId(id)
      const seats = this.#directory.alone(PATIENCE, () => this.#seat(joining))
      for (const [i, id] of joining.entries()) this.#enter(id, seats?.[i], 0)
      this.version++
    }
    return ids.map((id) => {
      const entry = this.#own.get(id) as Entry
      entry.references++
      return entry
    })
  }

  override unclaim({ id }: Entry): void {
    const entry = this.#own.get(id)
    if (entry === undefined) return
    entry.references--
    if (entry.references > 0) return
    this.#own.delete(id)
    this.#waiting.delete(id)
    this.version++
    if (this.#file.lost || entry.slot === NO_SLOT) return
    this.#leaving.push(entry)
    // Those that leave together are given back together. Where another process has the lock: later.
    if (this.#isLeavingSoon) return
    this.#isLeavingSoon = true
    queueMicrotask(() => {
      this.#isLeavingSoon = false
      this.#attempt(() => this.#directory.alone(0, () => this.#leave(deadline(STEP))))
    })
  }

  override onSeated(listener: SeatedListener): () => void {
    this.#seatedListeners.add(listener)
    return () => this.#seatedListeners.delete(listener)
  }

  override tell(told: readonly PlacedTold[]): void {
    this.#told.tell(told)
  }

  override listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  override elect(name: string): Election {
    return this.#groups.join(name, process.pid)
  }

  /**
   * Does what a timer does now and then.
   * @internal
   * @returns when it wants to be called again, ms
   */
  look(): number {
    if (this.#file.lost) {
      this.#warnOnce('it was cut short while it was in use: this process goes on alone, without reports')
      return LOOK_EVERY
    }
    const now = processClock.now()
    if (now >= this.#visitAt) {
      this.#visitAt = now + VISIT_EVERY
      if (!this.#file.isThere)
        this.#warnOnce('its file was deleted or replaced: processes that start from now on do not share it')
    }
    this.#sweepInTime(now)
    this.#seatWaiting()
    if (this.#directory.look()) this.version++
    const told = this.#told.look(this.#own.values())
    if (told.length > 0) for (const listener of [...this.#listeners]) listener(told)
    return this.#vacated.length > 0 || this.#sweep.isDue(now) ? NEXT_STEP : LOOK_EVERY
  }

  // Without the lock, unless all rows belong to threads that died.
  #takeRow(): void {
    const rows = this.#rows
    if (rows.take(process.pid)) return
    this.#directory.alone(PATIENCE, () => this.#sweep.bury(() => false))
    if (!rows.take(process.pid)) throw rows.full()
  }

  // Where no other thread lives nobody waits for the lock, and what the dead left is of no use: it goes at once.
  #clearIfAlone(): void {
    const rows = this.#rows.owned()
    if (rows.some((row) => row !== this.#rows.own && this.#rows.isAlive(row))) return
    const never = () => false
    this.#directory.alone(PATIENCE, () => {
      this.#sweep.bury(never)
      this.#sweep.vacate(
        [...this.#directory.seats()].map(({ slot }) => slot),
        never,
      )
    })
  }

  // Alone. All or none: a file that is full takes none of them.
  #seat(ids: readonly string[]): Seat[] {
    this.#leave(() => false)
    const seats: Seat[] = []
    try {
      for (const id of ids) {
        const seat = this.#directory.seat(id)
        seats.push(seat)
        this.#rows.setMember(seat.slot, seat.generation, true)
      }
    } catch (error) {
      for (const { slot, generation } of seats) this.#rows.setMember(slot, generation, false)
      this.#sweep.vacate(
        seats.map(({ slot }) => slot),
        () => false,
      )
      throw error
    }
    return seats
  }

  // Without a seat it waits for one.
  #enter(id: string, seat: Seat | undefined, references: number): Entry {
    const entry: Entry = { id, slot: NO_SLOT, generation: 0, ...seat, references }
    this.#own.set(id, entry)
    if (seat === undefined) this.#waiting.add(id)
    else {
      this.#waiting.delete(id)
      this.#told.forget(seat.slot)
    }
    return entry
  }

  #seatWaiting(): void {
    if (this.#waiting.size === 0) {
      this.#looksWaited = 0
      this.#hasWarnedOfLock = false
      return
    }
    const ids = [...this.#waiting]
    const seats = this.#directory.alone(0, () => this.#seat(ids))
    if (seats === undefined) {
      if (++this.#looksWaited === LOOKS_BEFORE_WARNING) this.#warnOfLock(ids.length)
      return
    }
    const entries = ids.map((id, i) => this.#enter(id, seats[i], this.#own.get(id)?.references ?? 0))
    this.version++
    for (const listener of [...this.#seatedListeners]) listener(entries)
  }

  // Alone.
  #leave(isLate: () => boolean): void {
    for (const { id, slot, generation } of this.#leaving.splice(0)) {
      // It may have come back meanwhile.
      if (this.#own.get(id)?.slot === slot) continue
      this.#rows.setMember(slot, generation, false)
      this.#vacated.push(slot)
    }
    if (this.#vacated.length > 0) this.#vacated = this.#sweep.vacate(this.#vacated, isLate)
  }

  #sweepInTime(now: number): void {
    const since = now - (this.#sweptAt[0] as number)
    const isTime = !(since >= 0 && since < SWEEP_EVERY)
    const hasMore = this.#leaving.length > 0 || this.#vacated.length > 0 || this.#sweep.isDue(now)
    if (!isTime && !hasMore) return
    const isLate = deadline(STEP)
    this.#directory.alone(0, () => {
      if (isTime && this.#sweep.bury(isLate)) this.#sweptAt[0] = now
      this.#leave(isLate)
      if (!isLate()) this.#sweep.step(now, isLate)
    })
  }

  #attempt(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#warnOnce(String(error))
    }
  }

  #warnOfLock(nodes: number): void {
    if (this.#hasWarnedOfLock) return
    this.#hasWarnedOfLock = true
    const { holder } = this.#directory
    const who = holder === undefined ? 'another process' : `process ${holder}`
    warn(
      `the table in ${shown(this.#file.path)}: ${who} keeps its lock, perhaps because it was stopped. ${nodes} nodes are picked without reports until it goes on or ends`,
      'IDLEST_TABLE',
    )
  }

  #warnOnce(what: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    warn(`the table in ${shown(this.#file.path)}: ${what}`, 'IDLEST_TABLE')
  }
}

function asEntry(seat: Omit<Entry, 'references'>): Entry {
  return 'references' in seat ? (seat as Entry) : { ...seat, references: 0 }
}

function* entriesOf(directory: Directory, own: ReadonlyMap<string, Entry>): IterableIterator<Entry> {
  for (const seat of directory.seats()) yield own.get(seat.id) ?? asEntry(seat)
}

function deadline(ms: number): () => boolean {
  const end = processClock.now() + ms
  return () => processClock.now() >= end
}

// Does not keep the table.
function lookAgain(table: WeakRef<FileTable>, delay: number): TimerHandle {
  return processClock.setTimeout(() => {
    const found = table.deref()
    if (found === undefined) return
    let next = LOOK_EVERY
    try {
      next = found.look()
    } catch (error) {
      warn(`a look at a table's file failed: ${String(error)}`, 'IDLEST_TABLE')
    }
    lookAgain(table, next)
  }, delay)
}
