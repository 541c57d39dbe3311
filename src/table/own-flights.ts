import { takeBack } from './in-flight.js'
import { allocate, type TableBuffer, type TableMemory } from './memory.js'

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
  const buffer = allocate(4 * memory.capacity, 4 * memory.mostSlots)
  memory.ledger = new Int32Array(buffer, 0, memory.capacity)
  const bound = bind?.(memory.bytes(), new Uint8Array(buffer, 0, buffer.byteLength))
  memory.keeper = bound
  memory.onGrown = () => {
    grow(buffer, 4 * memory.capacity)
    memory.ledger = new Int32Array(buffer, 0, memory.capacity)
    bound?.rebind(memory.bytes(), new Uint8Array(buffer, 0, 4 * memory.capacity))
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
