import Table from 'cli-table3'

/** A table for a terminal, to push rows to: the first `left` columns are aligned left, the others right. */
export function table(head: string[], left = 1): Table.Table {
  return new Table({
    head,
    colAligns: head.map((_, i) => (i < left ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
  })
}
