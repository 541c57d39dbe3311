import type { Report } from '../report.js'
import type { Place } from './store.js'

/** What the node in a slot told of itself that is for the balancer's members, not for the table. A field left out is as it was. */
export interface PlacedTold extends Place, Readonly<Pick<Report, 'state' | 'weight' | 'maxInFlight'>> {}

/** What a report tells that is for members; undefined where that is nothing. */
export function toldBy({ slot, generation }: Place, report: Report): PlacedTold | undefined {
  const { state, weight, maxInFlight } = report
  if (state === undefined && weight === undefined && maxInFlight === undefined) return undefined
  return {
    slot,
    generation,
    ...(state === undefined ? {} : { state }),
    ...(weight === undefined ? {} : { weight }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
  }
}

/** Finds what is new in what nodes tell again and again. */
export class Tellings {
  // What each told last, field by field, by slot.
  readonly #known = new Map<number, PlacedTold>()
  // What has changed since it was taken.
  #changed: PlacedTold[] = []

  /** Whether the report tells anything new. */
  take(place: Place, report: Report): boolean {
    const told = toldBy(place, report)
    if (told === undefined) return false
    const before = this.#known.get(told.slot)
    if (before?.generation !== told.generation) {
      this.#known.set(told.slot, told)
      this.#changed.push(told)
      return true
    }
    const changed = toldBy(place, differing(before, told))
    if (changed === undefined) return false
    this.#known.set(told.slot, { ...before, ...changed })
    this.#changed.push(changed)
    return true
  }

  /** Whatever the node in this slot tells next is new. */
  forget(slot: number): void {
    this.#known.delete(slot)
  }

  /** Gives what has changed since the last time, in the order in which it came. */
  drain(): readonly PlacedTold[] {
    const changed = this.#changed
    if (changed.length > 0) this.#changed = []
    return changed
  }
}

function differing(before: PlacedTold, { state, weight, maxInFlight }: PlacedTold): Report {
  const report: Report = {}
  if (state !== undefined && state !== before.state) report.state = state
  if (weight !== undefined && weight !== before.weight) report.weight = weight
  if (maxInFlight !== undefined && maxInFlight !== before.maxInFlight) report.maxInFlight = maxInFlight
  return report
}
