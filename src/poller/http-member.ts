import type { Clock } from '../clock.js'
import type { Answer } from './answer.js'
import type { HttpReading } from './http-exchange.js'
import { HttpNode } from './http-node.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import type { PageCosts } from './page-costs.js'
import { SecureContexts } from './secure-contexts.js'
import type { Place } from './store.js'
import type { HttpEndpoint } from './transports/http-endpoint.js'

type Target = HttpEndpoint & { readonly id: string }

const HEARD: Answer = { kind: 'heard' }

/** Answers in a row that are refused before a node is asked less often. */
const REFUSALS = 2
/** Most rounds in a row in which such a node is not asked. */
const MOST_OFF = 7

// To refuse an answer takes some ten times as long as to read one, with its new connection.
function roundsOffFor(refusals: number): number {
  return Math.min(MOST_OFF, 2 ** Math.max(0, refusals - REFUSALS) - 1)
}

/** A node that is asked over HTTP, with its slot. */
class HttpMember extends HttpNode implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #reading: HttpReading
  readonly #costs: PageCosts | undefined
  // Rounds in which it is not asked, since its page took much more than those of others, or its answers are refused again and
  // again. It counts as it did then.
  #roundsOff = 0
  #answer: Answer = HEARD

  constructor(
    target: Target,
    place: Place,
    reading: HttpReading,
    contexts: SecureContexts,
    now: () => number,
    costs: PageCosts | undefined,
  ) {
    super(target, reading, contexts, now)
    this.#reading = reading
    this.#costs = costs
    this.id = target.id
    this.slot = place.slot
    this.generation = place.generation
  }

  override async ask(): Promise<Answer> {
    if (this.#roundsOff > 0) {
      this.#roundsOff--
      return this.#answer
    }
    const answer = await super.ask()
    const cost = Math.max(this.bodySize, this.#reading.work ?? 0)
    this.#roundsOff = Math.max(roundsOffFor(this.refusals), this.#costs?.note(this, cost) ?? 0)
    this.#answer = answer.kind === 'report' ? HEARD : answer
    return answer
  }

  override close(): void {
    this.#costs?.forget(this)
    super.close()
  }
}

/** Makes the members of one poller that are asked over HTTP; they share TLS contexts. */
export class HttpMembers<T extends Target> implements MemberMaker<T> {
  readonly #contexts = new SecureContexts()
  readonly #clock: Clock
  readonly #readingOf: (target: T) => HttpReading
  readonly #costs: PageCosts | undefined

  /**
   * @param readingOf how a node's answers are read; called once per member
   * @param costs given where answers may be long: members whose answers take much more to read than usual are asked less
   * often
   */
  constructor({ clock }: MakerContext, readingOf: (target: T) => HttpReading, costs?: PageCosts) {
    this.#clock = clock
    this.#readingOf = readingOf
    this.#costs = costs
  }

  make(target: T, place: Place): PlacedMember {
    const now = () => this.#clock.now()
    return new HttpMember(target, place, this.#readingOf(target), this.#contexts, now, this.#costs)
  }
}
