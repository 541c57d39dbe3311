import { OptionError } from '../errors.js'
import { NO_SLOT } from '../table/layout.js'
import { type ArrayPicker, ArrayPicks, type ArrayPicksOptions } from './array-picks.js'
import type { CustomRunner } from './custom.js'
import type { Place } from './members.js'
import { idOf, type NodeLike } from './node.js'

/** Picks from arrays by an algorithm of the user's. Nothing is remembered of an array: a pick is linear in its length. */
class CustomArrayPicks implements ArrayPicker {
  readonly #options: ArrayPicksOptions
  readonly #runner: CustomRunner
  #places = new Map<string, Place>()
  #version = -1

  constructor(options: ArrayPicksOptions, runner: CustomRunner) {
    this.#options = options
    this.#runner = runner
  }

  select(nodes: readonly NodeLike[]): number {
    const { check, out, onShown } = this.#options
    check()
    if (!Array.isArray(nodes)) throw new OptionError('nodes', nodes, 'an array of nodes')
    this.#takeDirectory()
    const indices: number[] = []
    const candidates: NodeLike[] = []
    const places: Place[] = []
    // Not `entries` of what is the caller's: reading an id may run code that changes it.
    for (const [i, node] of nodes.slice().entries()) {
      const id = idOf(node)
      onShown?.(id)
      if (out.has(id)) continue
      indices.push(i)
      candidates.push(node)
      places.push(this.#places.get(id) ?? { id, slot: NO_SLOT, generation: 0 })
    }
    if (candidates.length === 0) return -1
    const picked = this.#runner.pick(this.#runner.choiceOf(candidates, places))
    return picked < 0 ? -1 : (indices[picked] as number)
  }

  invalidate(): void {}

  close(): void {
    this.#places.clear()
  }

  #takeDirectory(): void {
    const { directory } = this.#options
    if (this.#version === directory.version) return
    this.#places = new Map([...directory.places()].map((place) => [place.id, place]))
    this.#version = directory.version
  }
}

/** What picks from arrays; `custom` runs the algorithm where it is the user's. */
export function arrayPickerOf(options: ArrayPicksOptions, custom: CustomRunner | undefined): ArrayPicker {
  return custom === undefined ? new ArrayPicks(options) : new CustomArrayPicks(options, custom)
}
