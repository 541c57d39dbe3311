import { processBinding } from '../../engine/binding.js'
import type { NativeBinding } from '../../engine/native.js'
import { EngineError, reasonOf, shown, TableError } from '../../errors.js'
import { processClock } from '../../process-clock.js'
import { VERSION } from '../../version.js'
import { firstBytes, TableMemory } from '../memory.js'
import { type FileShape, rowAt, shapeFor, WHOLE_LOCK } from './layout.js'

/** A file of the addon's: `crates/node/src/file.rs`. Its methods throw where the system refuses. */
export interface TableFileBinding {
  shape(): FileShape
  table(): ArrayBuffer
  shared(): ArrayBuffer
  made(): boolean
  again(): string
  isAt(path: string): boolean
  lost(): boolean
  reserve(row: number): void
  wait(lock: number, longest: number): boolean
  take(lock: number, exclusive: boolean): boolean
  release(lock: number): void
  held(lock: number): boolean
}

/** What another thread of this process attaches to a table in a file with. */
export interface FileSource {
  readonly kind: 'file'
  readonly path: string
}

/** A table's file, opened: its memory and its locks. It is closed when nobody has it any more, or the thread ends. */
export class TableFile {
  readonly path: string
  readonly shape: FileShape
  readonly memory: TableMemory
  /** The second part and the rows. */
  readonly shared: ArrayBuffer
  readonly #binding: TableFileBinding

  /**
   * Opens the file, or makes it.
   * @param nodes nodes that there is to be room for; undefined: as many as a file has that is there, else the default
   *
   * Throws TableError, and EngineError where there is no addon.
   */
  constructor(path: string, nodes: number | undefined, byDefault: number) {
    this.path = path
    const { TableFile } = bindingFor(path)
    const shape = shapeFor(nodes ?? byDefault)
    const binding = this.#try(() =>
      TableFile.open(path, shape, firstBytes(processClock.now(), shape.nodes, shape.nodes)),
    )
    this.#binding = binding
    const found = binding.shape()
    if (nodes !== undefined && nodes !== found.nodes) {
      throw this.#fault(
        `it has room for ${found.nodes} nodes, not for ${nodes}: maxNodes must be the same for all`,
      )
    }
    const expected = shapeFor(found.nodes)
    if ((Object.keys(expected) as (keyof FileShape)[]).some((key) => found[key] !== expected[key])) {
      throw this.#fault(
        `its parts have other sizes than in idlest ${VERSION}. Give each version a file of its own, or stop all processes that use it and delete it`,
      )
    }
    this.shape = expected
    this.memory = this.#try(() => new TableMemory(binding.table()))
    // Leases and engines have the memory; what it is of must not be closed before.
    this.memory.keeper = this
    if (this.memory.capacity !== expected.nodes)
      throw this.#fault('its table is of another size than it says')
    this.shared = this.#try(() => binding.shared())
  }

  /** Whether the file was cut short by someone: then this thread has memory of its own in its place. */
  get lost(): boolean {
    return this.#binding.lost()
  }

  /** Whether the path still leads to it. */
  get isThere(): boolean {
    return this.#binding.isAt(this.path)
  }

  get source(): FileSource {
    return { kind: 'file', path: this.#binding.again() }
  }

  /** Words of a row. */
  row(row: number): Int32Array {
    return new Int32Array(this.shared, rowAt(this.shape, row), 3 * this.shape.nodes)
  }

  /** Takes room for a row on the device. */
  reserve(row: number): void {
    this.#try(() => this.#binding.reserve(row))
  }

  /**
   * Does what no other process may do at the same time. Not within another such call.
   * @param longest how long to wait for another process that holds the lock, ms; 0: not at all
   * @returns undefined, and nothing is done, where the lock could not be had: its holder may be stopped
   */
  alone<R>(longest: number, work: () => R): R | undefined {
    const taken =
      longest === 0 ? this.take(WHOLE_LOCK, true) : this.#try(() => this.#binding.wait(WHOLE_LOCK, longest))
    return taken ? this.#unlocking(work) : undefined
  }

  /** Takes a lock, unless another has it. */
  take(lock: number, exclusive: boolean): boolean {
    return this.#try(() => this.#binding.take(lock, exclusive))
  }

  release(lock: number): void {
    this.#try(() => this.#binding.release(lock))
  }

  /** Whether another than this has the lock. */
  held(lock: number): boolean {
    return this.#try(() => this.#binding.held(lock))
  }

  fault(what: string, value?: unknown): TableError {
    return this.#fault(what, value)
  }

  #unlocking<R>(work: () => R): R {
    try {
      return work()
    } finally {
      this.release(WHOLE_LOCK)
    }
  }

  #fault(what: string, value: unknown = this.path, cause?: unknown): TableError {
    return new TableError(`the table in ${shown(this.path)} can't be used: ${what}`, value, cause)
  }

  #try<R>(run: () => R): R {
    try {
      return run()
    } catch (error) {
      throw this.#fault(reasonOf(error), this.path, error)
    }
  }
}

function bindingFor(path: string): NativeBinding {
  const what = `a table in a file (${shown(path)}) is mapped by the native addon`
  if (process.env.IDLEST_ENGINE === 'portable') {
    throw new EngineError(`${what}, which IDLEST_ENGINE=portable shuts out: unset it, or leave out \`file\``)
  }
  const result = processBinding()
  if (result.kind === 'loaded') return result.binding
  throw new EngineError(`${what}, or leave out \`file\`: ${result.error.message}`, result.error)
}
