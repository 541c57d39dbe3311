import type { TimerHandle } from '../../clock.js'
import { shown } from '../../errors.js'
import type { PlacedTold } from '../../poller/told.js'
import { processClock } from '../../process-clock.js'
import { warn } from '../../warn.js'
import { type Entry, Table, type TableSource } from '../table.js'
import { Directory } from './directory.js'
import { type Election, Groups } from './groups.js'
import { DEFAULT_NODES, SWEPT_WORD } from './layout.js'
import { Rows } from './rows.js'
import { TableFile } from './table-file.js'
import { ToldWords } from './told.js'

/** How often what other processes did is looked at, ms. */
const LOOK_EVERY = 200
/** How often one of them looks for processes that died, ms. */
const SWEEP_EVERY = 1_000
/** How often a file is looked for at its path, in looks. */
const LOOKS_A_VISIT = 25

type Listener = (told: readonly PlacedTold[]) => void

/** A table in a file: processes of one machine share it, readings and requests in flight. */
export class FileTable extends Table {
  readonly #file: TableFile
  readonly #directory: Directory
  readonly #rows: Rows
  readonly #told: ToldWords
  readonly #groups: Groups
  // Of this thread's balancers.
  readonly #own = new Map<string, Entry>()
  readonly #listeners = new Set<Listener>()
  readonly #sweptAt: Float64Array
  // Nodes that this thread has no more.
  #leaving: Entry[] = []
  #looks = 0
  #warned = false

  /**
   * Opens the file, or makes it.
   *
   * Throws TableError where it can't be used, EngineError where there is no addon.
   */
  constructor(path: string, nodes: number | undefined) {
    const file = new TableFile(path, nodes, DEFAULT_NODES)
    super(processClock, file.memory)
    this.#file = file
    this.#directory = new Directory(file)
    this.#told = new ToldWords(file)
    this.#sweptAt = new Float64Array(file.shared, SWEPT_WORD * 4, 1)
    this.#rows = this.#directory.alone(() => {
      const rows = new Rows(file, process.pid)
      this.#sweep(rows)
      return rows
    })
    file.memory.ledger = this.#rows.ledger
    this.#groups = new Groups(file, this.#directory, this.#rows)
    lookAgain(new WeakRef(this))
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
    const known = this.#own.get(id)
    if (known !== undefined) {
      known.references++
      return known
    }
    this.#checkFile()
    const seat = this.#directory.alone(() => {
      const seat = this.#directory.seat(id)
      this.#rows.setMember(seat.slot, seat.generation, true)
      return seat
    })
    const entry: Entry = { ...seat, references: 1 }
    this.#own.set(id, entry)
    this.#told.forget(entry.slot)
    this.version++
    return entry
  }

  override unclaim(entry: Entry): void {
    entry.references--
    if (entry.references > 0 || this.#own.get(entry.id) !== entry) return
    this.#own.delete(entry.id)
    this.version++
    if (this.#file.lost) return
    this.#leaving.push(entry)
    try {
      this.#directory.alone(() => this.#leave())
    } catch {
      // A process that was stopped keeps the lock: later.
    }
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

  /** @internal what a timer does now and then */
  look(): void {
    if (this.#file.lost) {
      this.#warnOnce('it was cut short while it was in use: this process goes on alone, without reports')
      return
    }
    if (this.#looks++ % LOOKS_A_VISIT === 0 && !this.#file.isThere) {
      this.#warnOnce('its file was deleted or replaced: processes that start from now on do not share it')
    }
    this.#sweepInTime()
    if (this.#directory.look()) this.version++
    const told = this.#told.look(this.#own.values())
    if (told.length > 0) for (const listener of [...this.#listeners]) listener(told)
  }

  // Alone.
  #leave(): void {
    for (const { id, slot, generation } of this.#leaving.splice(0)) {
      // It may have come back meanwhile.
      if (this.#own.get(id)?.slot === slot) continue
      this.#rows.setMember(slot, generation, false)
      if (this.#directory.hasNode(slot) && !this.#rows.anyMember(slot)) this.#directory.vacate(slot)
    }
  }

  #sweepInTime(): void {
    const now = processClock.now()
    const since = now - (this.#sweptAt[0] as number)
    if (since >= 0 && since < SWEEP_EVERY) return
    this.#directory.aloneNow(() => {
      this.#sweptAt[0] = now
      this.#leave()
      this.#sweep(this.#rows)
    })
  }

  // Alone.
  #sweep(rows: Rows): void {
    const directory = this.#directory
    rows.sweep(directory.used)
    rows.reconcile(directory.used)
    for (const { slot } of [...directory.seats()]) if (!rows.anyMember(slot)) directory.vacate(slot)
  }

  #checkFile(): void {
    if (this.#file.lost) throw this.#file.fault('it was cut short while it was in use')
  }

  #warnOnce(what: string): void {
    if (this.#warned) return
    this.#warned = true
    warn(`the table in ${shown(this.#file.path)}: ${what}`, 'IDLEST_TABLE')
  }
}

function asEntry(seat: Omit<Entry, 'references'>): Entry {
  return 'references' in seat ? (seat as Entry) : { ...seat, references: 0 }
}

function* entriesOf(directory: Directory, own: ReadonlyMap<string, Entry>): IterableIterator<Entry> {
  for (const seat of directory.seats()) yield own.get(seat.id) ?? asEntry(seat)
}

// Does not keep the table.
function lookAgain(table: WeakRef<FileTable>): TimerHandle {
  return processClock.setTimeout(() => {
    const found = table.deref()
    if (found === undefined) return
    try {
      found.look()
    } catch (error) {
      warn(`a look at a table's file failed: ${String(error)}`, 'IDLEST_TABLE')
    }
    lookAgain(table)
  }, LOOK_EVERY)
}
