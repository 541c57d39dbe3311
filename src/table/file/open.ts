import { TableMemory } from '../memory.js'
import type { TableSource } from '../table.js'
import { DEFAULT_NODES } from './layout.js'
import { Rows } from './rows.js'
import { TableFile } from './table-file.js'

/** What a thread that attaches does with the table. */
export type Use =
  /** It counts requests in flight. */
  | 'counts'
  /** It reads and writes readings alone. */
  | 'reports'

/**
 * The memory of a table of another thread of this process. Throws TableError where it is none of this version, or a file
 * that can't be opened again.
 */
export function attachMemory(source: TableSource, use: Use): TableMemory {
  if (!('kind' in source)) return new TableMemory(source)
  const file = new TableFile(source.path, undefined, DEFAULT_NODES)
  if (use === 'counts') {
    const rows = new Rows(file)
    if (!rows.take(process.pid)) throw rows.full()
  }
  return file.memory
}
