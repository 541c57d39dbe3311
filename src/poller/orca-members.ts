import type { MakerContext, MemberMaker } from './member-makers.js'
import { connectOrca } from './orca-connection.js'
import { OrcaMember } from './orca-member.js'
import { SecureContexts } from './secure-contexts.js'
import type { Place } from './store.js'
import type { OrcaTarget } from './transports/orca.js'

/** Makes the members of one poller that are heard by gRPC; they share TLS contexts. */
export class OrcaMembers implements MemberMaker<OrcaTarget> {
  readonly #context: MakerContext
  readonly #contexts = new SecureContexts()

  constructor(context: MakerContext) {
    this.#context = context
  }

  make(target: OrcaTarget, place: Place): OrcaMember {
    const { clock, sink, onFault } = this.#context
    const member: OrcaMember = new OrcaMember(target.id, place, {
      clock,
      sink,
      interval: target.interval,
      connect: (events) => connectOrca(target, this.#contexts, events, clock),
      onFault: (error) => onFault(member, error),
    })
    return member
  }
}
