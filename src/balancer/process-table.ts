import { resolve } from 'node:path'
import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { checkOptions, options, text, whole } from '../options.js'
import { processClock } from '../process-clock.js'
import { FileTable } from '../table/file/file-table.js'
import { Table, type TableOptions } from '../table/table.js'
import { clockOption } from './options.js'

let table: Table | undefined

/** The table that this thread's balancers share unless they are given another; made when it is first needed. */
export function processTable(): Table {
  table ??= new Table(processClock)
  return table
}

const tableOptions = options({
  clock: clockOption,
  maxNodes: v.optional(whole(1, 2 ** 20)),
  file: v.optional(text()),
})

/**
 * Makes a table of its own for balancers to share: they see each other's readings and requests in flight, and nothing
 * of other tables'. With `file` balancers of other processes share it too: those of one name elect one that polls, in
 * the place of which another one does when its process ends; and what a process that was killed had in flight is taken
 * back.
 *
 * @example
 * ```ts
 * const balancer = createBalancer({ nodes, poll: { transport: httpTransport() }, table: createTable({ file: '/dev/shm/my-service' }) })
 * ```
 * @throws OptionError
 * @throws TableError where the file is foreign, cut short, of another version, or can't be opened, mapped or locked
 * @throws EngineError for a file where there is no native addon
 */
export function createTable(given: TableOptions = {}): Table {
  const { clock, maxNodes, file } = checkOptions('createTable', given, tableOptions)
  if (file !== undefined) {
    if (clock === undefined || clock === processClock) return new FileTable(resolve(file), maxNodes)
    throw new OptionError('clock', clock, "none: a file's table goes by the clock that processes share")
  }
  return new Table(clock ?? processClock, maxNodes)
}
