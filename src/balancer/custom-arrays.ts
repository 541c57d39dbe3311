import { OptionError } from '../errors.js'
import { NO_SLOT } from '../table/layout.js'
import { type ArrayPicker, ArrayPicks, type ArrayPicksOptions } from './array-picks.js'
import type { CustomRunner } from './custom.js'
import type { Place } from './member.js'
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
    const { check, standings, onShown } = this.#options
    check()
    if (!Array.isArray(nodes)) throw new OptionError('nodes', nodes, 'an array of nodes')
    this.#takeDirectory()
    // Not `entries` of what is the caller's: reading an id may run code that changes it.
    const all = [...nodes.slice().entries()].map(([index, node]) => ({ index, node, id: idOf(node) }))
    for (const { id } of all) onShown?.(id)
    let candidates = all.filter(({ id }) => !standings.out.has(id))
    if (candidates.length === 0) candidates = all.filter(({ id }) => standings.ill.has(id))
    if (candidates.length === 0) return -1
    const choice = this.#runner.choiceOf(
      candidates.map(({ node }) => node),
      candidates.map(({ id }) => this.#places.get(id) ?? { id, slot: NO_SLOT, generation: 0 }),
    )
    const picked = this.#runner.pick(choice)
    return picked < 0 ? -1 : (candidates[picked]?.index ?? -1)
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
