import * as table from '../layout.js'

/**
 * The layout of a table's file. `crates/file/src/header.rs` describes its first page, which says of what size the rest is.
 * Two parts follow, and rows. The first part is a table's memory as `../layout.ts` has it, with all of its slots from the
 * beginning. The second is for what processes have to agree on, of 32-bit words:
 *
 * ```text
 * page 0      word 0 version of the directory (atomic): a step each time a node gets a slot or gives one back
 *             word 1 version of what nodes told (atomic)
 *             word 2 where to look for the next free slot
 *             word 3 slots that were ever used: no others are looked at
 *             word 4 rows that were ever used
 *             word 5 id of the process that changes the directory, or was killed while it did; 0: none (atomic)
 *             words 6-7 when rows of the dead were last looked for: the clock's time, ms (one f64)
 *             words 64-575 64 groups of pollers, 8 words each: words 0-1 the hash of their name (64 bits; 0: free),
 *             word 2 process id of the one that polls, word 3 its cycles so far, word 4 its row (all atomic)
 *             words 640-895 the slots of the last 256 changes of the directory: that of version v at 640 + v % 256
 * page 1      rows, 2 words each: word 0 bit 0 whether it has an owner, bits 1-4 which of the table's named metrics that
 *             uses (atomic); word 1 the process id of the owner
 * then        what nodes told, one atomic 64-bit word a slot: see `told.ts`
 * then        slots, one atomic word each: 0 free, 0xffffffff is being emptied, else the bytes of its node's id
 * then        ids, 512 bytes each, in UTF-8
 * ```
 *
 * A row belongs to one thread of one process, which holds a lock of its own for as long as it lives:
 *
 * ```text
 * first       the requests in flight that this thread counted, 2 words a slot: the count, and the slot generation that it is
 *             of (see `TableMemory.ledger`). The owner alone writes them
 * then        one word a slot, whether the thread has the node as a member: the highest bit, and 31 bits of the slot
 *             generation; else 0
 * ```
 */
export const SHARED_HEADER_BYTES = 8192
export const DIRECTORY_VERSION_WORD = 0
export const TOLD_VERSION_WORD = 1
export const CURSOR_WORD = 2
export const USED_SLOTS_WORD = 3
export const USED_ROWS_WORD = 4
export const AT_WORK_WORD = 5
export const SWEPT_WORD = 6

export const GROUPS_WORD = 64
export const GROUP_WORDS = 8
export const MOST_GROUPS = 64
export const GROUP_PID_WORD = 2
export const GROUP_CYCLES_WORD = 3
export const GROUP_ROW_WORD = 4

/** The changes that a process can catch up with one by one. After more of them it looks at all slots. */
export const MOST_CHANGES = 256
export const CHANGES_WORD = 640

export const ROWS_WORD = 1024
export const OWNED_BIT = 1
/** The bit of the first named metric. */
export const FIRST_NAME_BIT = 2
/** Threads, of all processes, that may count in one file. */
export const MOST_ROWS = 256

export const ID_BYTES = 512
export const FREE = 0
/** As an Int32Array has it. */
export const EMPTYING = -1
export const MEMBER_BIT = 0x80000000 | 0

/** Nodes that a file has room for unless it is asked for otherwise. */
export const DEFAULT_NODES = 4_096

/**
 * How long a change waits for another process that is at the directory, ms. That takes microseconds; longer is one that was
 * stopped, and then the change is made later.
 */
export const PATIENCE = 5
/** As `PATIENCE`, where a balancer can't be made without the lock: all named metrics are taken, and one is to be freed. */
export const RECLAIM_PATIENCE = 200

/** Locks of a file, by number. */
export const WHOLE_LOCK = 0
/** The one that all members of a group have. */
export const GROUP_LOCKS = 1_000
/** The one that the member of a group has that polls. */
export const POLLER_LOCKS = 2_000
export const ROW_LOCKS = 3_000

const PAGE = 4096

function pages(bytes: number): number {
  return Math.ceil(bytes / PAGE) * PAGE
}

/** The sizes of a file for so many nodes. */
export interface FileShape {
  readonly nodes: number
  /** Bytes of the first part. */
  readonly table: number
  /** Bytes of the second part. */
  readonly shared: number
  /** Bytes of a row. */
  readonly row: number
  readonly rows: number
}

export function shapeFor(nodes: number): FileShape {
  return {
    nodes,
    table: table.HEADER_BYTES + nodes * table.SLOT_BYTES,
    shared: idsAt(nodes) + nodes * ID_BYTES,
    row: pages(12 * nodes),
    rows: MOST_ROWS,
  }
}

/** Bytes from the beginning of the second part to the words of slots. */
export function statesAt(nodes: number): number {
  return SHARED_HEADER_BYTES + 8 * nodes
}

/** Bytes to the ids. */
export function idsAt(nodes: number): number {
  return statesAt(nodes) + 8 * Math.ceil(nodes / 2)
}

/** Bytes to a row. */
export function rowAt(shape: FileShape, row: number): number {
  return pages(shape.shared) + row * shape.row
}
