import { Table } from '../table/table.js'
import { processClock } from './process-clock.js'

let table: Table | undefined

/** The table that this thread's balancers share unless they are given another; made when it is first needed. */
export function processTable(): Table {
  table ??= new Table(processClock)
  return table
}
