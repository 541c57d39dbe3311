import type { Entry } from '../table/table.js'

/** What a change of members comes to: first the removed ones go, then the added ones come. */
export interface RosterChange {
  readonly added: readonly Entry[]
  readonly removed: readonly Entry[]
}

interface Known {
  entry: Entry
  seen: number
}

/** The members as they were last told, to find what a new list changes: in one pass, with no strings compared. */
export class Roster {
  readonly #known = new Map<number, Known>()
  #pass = 0

  /** Takes the new list over. A node that came back under the same slot is removed and added. */
  update(entries: readonly Entry[]): RosterChange {
    const added: Entry[] = []
    const removed: Entry[] = []
    const pass = ++this.#pass
    for (const entry of entries) {
      const known = this.#known.get(entry.slot)
      if (known === undefined) {
        this.#known.set(entry.slot, { entry, seen: pass })
        added.push(entry)
        continue
      }
      known.seen = pass
      if (known.entry.generation !== entry.generation) {
        removed.push(known.entry)
        added.push(entry)
      }
      known.entry = entry
    }
    if (this.#known.size > entries.length) this.#collectGone(pass, removed)
    return { added, removed }
  }

  #collectGone(pass: number, removed: Entry[]): void {
    for (const [slot, { entry, seen }] of this.#known) {
      if (seen === pass) continue
      this.#known.delete(slot)
      removed.push(entry)
    }
  }
}
