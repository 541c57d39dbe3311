import { HttpNode, SecureContexts } from './http-node.js'
import type { HttpTarget } from './http-target.js'
import type { Member } from './round.js'
import type { Place } from './store.js'

/** A node that is asked over HTTP, with its slot. */
export class HttpMember extends HttpNode implements Member, Place {
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
export class HttpMembers {
  readonly #contexts = new SecureContexts()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  make(target: HttpTarget, place: Place): HttpMember {
    return new HttpMember(target, place, this.#contexts, this.#now)
  }
}
