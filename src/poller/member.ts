import type { Answer } from './answer.js'
import type { Member } from './round.js'
import type { Place } from './store.js'

/** A member with its slot: what the members of all transports are. */
export interface PlacedMember extends Member, Place {
  /** Lets go of its connection. It is not asked again. */
  close?(): void
}

/** A member that can't be asked: it fails each time, alone. */
export class UnaskableMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #reason: string

  constructor(id: string, place: Place, reason: string) {
    this.id = id
    this.slot = place.slot
    this.generation = place.generation
    this.#reason = reason
  }

  async ask(): Promise<Answer> {
    return { kind: 'error', reason: this.#reason }
  }

  cancel(): void {}
}
