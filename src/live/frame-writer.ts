import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ColumnCells, sentColumn } from './columns.js'
import { FRAME_VERSION } from './frames.js'
import type { Look } from './looks.js'

/** A look as it is sent: JSON, in one piece for each column. */
export interface Frames {
  /** For viewers that don't have the one before. */
  whole(): readonly Buffer[]
  /** For viewers that have it. */
  readonly next: readonly Buffer[]
}

/** So many values become JSON in one turn of the event loop, which takes some 0.2 ms. */
const VALUES_A_TURN = 2_048

/** Writes looks as frames: by columns, since names take more than numbers, and of these those that changed. */
export class FrameWriter {
  #before = new Map<string, Buffer>()
  #count = -1

  /** Lets the event loop turn while it writes. Write one look at a time. */
  async write({ head, count, columns }: Look): Promise<Frames> {
    const before = count === this.#count ? this.#before : new Map<string, Buffer>()
    const texts = new Map<string, Buffer>()
    let values = 0
    for (const [name, cells] of columns) {
      if (values >= VALUES_A_TURN) {
        await nextTurn()
        values = 0
      }
      values += count
      texts.set(name, Buffer.from(await columnText(cells)))
    }
    const changed = [...texts].filter(([name, text]) => before.get(name)?.equals(text) !== true)
    this.#before = texts
    this.#count = count
    const start = `{"version":${FRAME_VERSION},"head":${JSON.stringify(head)},"count":${count},`
    return {
      whole: () => pieces(`${start}"isWhole":true,"columns":{`, [...texts]),
      next: pieces(`${start}"isWhole":${changed.length === texts.size},"columns":{`, changed),
    }
  }
}

function pieces(start: string, columns: readonly (readonly [string, Buffer])[]): Buffer[] {
  const all: Buffer[] = [Buffer.from(start)]
  for (const [i, [name, text]] of columns.entries()) {
    all.push(Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(name)}:`), text)
  }
  all.push(Buffer.from('}}'))
  return all
}

async function columnText(cells: ColumnCells): Promise<string> {
  const column = sentColumn(cells)
  if ('all' in column) return JSON.stringify(column)
  if ('each' in column) return `{"each":${await listText(column.each)}}`
  return `{"at":${await listText(column.at)},"of":${await listText(column.of)}}`
}

async function listText(list: readonly unknown[]): Promise<string> {
  const parts: string[] = []
  for (let from = 0; from < list.length; from += VALUES_A_TURN) {
    if (from > 0) await nextTurn()
    parts.push(JSON.stringify(list.slice(from, from + VALUES_A_TURN)).slice(1, -1))
  }
  return `[${parts.join(',')}]`
}
