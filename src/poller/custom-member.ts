import type { Clock } from '../clock.js'
import { BadReportError, reasonOf } from '../errors.js'
import { checkReport } from '../reports/check.js'
import type { Answer } from './answer.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import type { Place } from './store.js'
import type { CustomTarget } from './targets.js'
import type { CustomTransport } from './transport.js'

/** A member that is asked by the user's own transport. */
class CustomMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #transport: CustomTransport
  readonly #clock: Clock
  #asking: AbortController | undefined

  constructor({ id, transport }: CustomTarget, place: Place, clock: Clock) {
    this.id = id
    this.slot = place.slot
    this.generation = place.generation
    this.#transport = transport
    this.#clock = clock
  }

  async ask(): Promise<Answer> {
    const asking = new AbortController()
    this.#asking = asking
    try {
      const report = checkReport(await this.#transport.poll(this.id, asking.signal))
      return { kind: 'report', report, at: this.#clock.now() }
    } catch (error) {
      return { kind: error instanceof BadReportError ? 'error' : 'exit', reason: reasonOf(error) }
    } finally {
      // A transport that ignores the signal may answer when the next cycle is asking already.
      if (this.#asking === asking) this.#asking = undefined
    }
  }

  cancel(reason: string): void {
    this.#asking?.abort(new DOMException(reason, 'AbortError'))
    this.#asking = undefined
  }
}

/** Makes the members of the user's own transports. */
export class CustomMembers implements MemberMaker<CustomTarget> {
  readonly #clock: Clock

  constructor({ clock }: MakerContext) {
    this.#clock = clock
  }

  make(target: CustomTarget, place: Place): PlacedMember {
    return new CustomMember(target, place, this.#clock)
  }
}
