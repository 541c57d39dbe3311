import type { Clock } from '../clock.js'
import { HttpNode, SecureContexts } from './http-node.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import type { Place } from './store.js'
import type { HttpTarget } from './transports/http.js'

/** A node that is asked over HTTP, with its slot. */
export class HttpMember extends HttpNode implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number

  constructor(target: HttpTarget, place: Place, contexts: SecureContexts, now: () => number) {
    super(target, contexts, now)
    this.id = target.id
    this.slot = place.slot
    this.generation = place.generation
  }
}

/** Makes the HTTP members of one poller; they share TLS contexts. */
export class HttpMembers implements MemberMaker<HttpTarget> {
  readonly #contexts = new SecureContexts()
  readonly #clock: Clock

  constructor({ clock }: MakerContext) {
    this.#clock = clock
  }

  make(target: HttpTarget, place: Place): HttpMember {
    return new HttpMember(target, place, this.#contexts, () => this.#clock.now())
  }
}
