import * as v from 'valibot'
import { checkOptions, options, whole } from '../options.js'
import { processClock } from '../process-clock.js'
import { Table, type TableOptions } from '../table/table.js'
import { clockOption } from './options.js'

let table: Table | undefined

/** The table that this thread's balancers share unless they are given another; made when it is first needed. */
export function processTable(): Table {
  table ??= new Table(processClock)
  return table
}

const tableOptions = options({ clock: clockOption, maxNodes: v.optional(whole(1, 2 ** 20)) })

/**
 * Makes a table of its own for balancers to share: they see each other's readings and requests in flight, and nothing
 * of other tables'.
 *
 * Throws OptionError.
 */
export function createTable(given: TableOptions = {}): Table {
  const { clock, maxNodes } = checkOptions('createTable', given, tableOptions)
  return new Table(clock ?? processClock, maxNodes)
}
