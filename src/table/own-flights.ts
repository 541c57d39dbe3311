import { takeBack } from './in-flight.js'
import { allocate, type TableBuffer, type TableMemory } from './memory.js'

// Of a ledger, for one slot.
const CELL_BYTES = 8

/** Takes back what a ledger says when this thread ends, however that is, or when nobody has it any more. */
export interface OwnFlights {
  /** Goes on with views of the same memory, after the table has grown. */
  rebind(table: Uint8Array, ledger: Uint8Array): void
}

// Where the engine can't, what this thread has is taken back as it ends by itself: one listener for all, since Node.js warns
// of the eleventh.
const unbound = new Set<WeakRef<TableMemory>>()
const forgotten = new FinalizationRegistry<WeakRef<TableMemory>>((memory) => {
  unbound.delete(memory)
  if (unbound.size === 0) process.off('exit', onExit)
})

function onExit(): void {
  for (const reference of unbound) {
    const memory = reference.deref()
    if (memory?.ledger !== undefined) takeBack(memory, memory.ledger)
  }
}

/**
 * Keeps a ledger of the requests in flight that this thread counts in the table of another, so that those it never released
 * are taken back when it ends.
 * @param bind what takes them back also where the thread is terminated, if the engine can
 */
export function keepLedger(
  memory: TableMemory,
  bind: ((table: Uint8Array, ledger: Uint8Array) => OwnFlights) | undefined,
): void {
  const buffer = allocate(CELL_BYTES * memory.slots, CELL_BYTES * memory.mostSlots)
  // Two words for each slot of the memory's views. The table itself may grow between two looks at it: its thread goes on.
  const views = (): [table: Uint8Array, ledger: Uint8Array] => {
    const table = memory.bytes()
    const { slots } = memory
    grow(buffer, CELL_BYTES * slots)
    memory.ledger = new Int32Array(buffer, 0, 2 * slots)
    return [table, new Uint8Array(buffer, 0, CELL_BYTES * slots)]
  }
  const bound = bind?.(...views())
  if (bound === undefined) views()
  memory.keeper = bound
  memory.onGrown = () => {
    const grown = views()
    bound?.rebind(...grown)
  }
  if (bound === undefined) listen(memory)
}

function grow(buffer: TableBuffer, bytes: number): void {
  if (bytes <= buffer.byteLength) return
  if ('growable' in buffer) buffer.grow(bytes)
  else buffer.resize(bytes)
}

function listen(memory: TableMemory): void {
  const reference = new WeakRef(memory)
  if (unbound.size === 0) process.on('exit', onExit)
  unbound.add(reference)
  forgotten.register(memory, reference)
}
