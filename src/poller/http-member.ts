import type { Clock } from '../clock.js'
import type { HttpReading } from './http-exchange.js'
import { HttpNode } from './http-node.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import { SecureContexts } from './secure-contexts.js'
import type { Place } from './store.js'
import type { HttpEndpoint } from './transports/http-endpoint.js'

type Target = HttpEndpoint & { readonly id: string }

/** A node that is asked over HTTP, with its slot. */
class HttpMember extends HttpNode implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number

  constructor(
    target: Target,
    place: Place,
    reading: HttpReading,
    contexts: SecureContexts,
    now: () => number,
  ) {
    super(target, reading, contexts, now)
    this.id = target.id
    this.slot = place.slot
    this.generation = place.generation
  }
}

/** Makes the members of one poller that are asked over HTTP; they share TLS contexts. */
export class HttpMembers<T extends Target> implements MemberMaker<T> {
  readonly #contexts = new SecureContexts()
  readonly #clock: Clock
  readonly #readingOf: (target: T) => HttpReading

  /** @param readingOf how a node's answers are read; asked for once a member */
  constructor({ clock }: MakerContext, readingOf: (target: T) => HttpReading) {
    this.#clock = clock
    this.#readingOf = readingOf
  }

  make(target: T, place: Place): PlacedMember {
    return new HttpMember(target, place, this.#readingOf(target), this.#contexts, () => this.#clock.now())
  }
}
