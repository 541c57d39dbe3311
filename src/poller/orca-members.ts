import type { GrpcModule } from '../optional-package.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import { connectOrca } from './orca-connection.js'
import { OrcaMember } from './orca-member.js'
import { SecureContexts } from './secure-contexts.js'
import type { Place } from './store.js'
import type { OrcaTarget } from './transports/orca.js'

/** Makes the members of one poller that are heard by gRPC; they share TLS contexts. */
export class OrcaMembers implements MemberMaker<OrcaTarget> {
  readonly #context: MakerContext
  readonly #grpc: GrpcModule
  readonly #contexts = new SecureContexts()

  constructor(context: MakerContext, grpc: GrpcModule) {
    this.#context = context
    this.#grpc = grpc
  }

  make(target: OrcaTarget, place: Place): OrcaMember {
    const { clock, sink } = this.#context
    return new OrcaMember(target.id, place, {
      clock,
      sink,
      interval: target.interval,
      connect: (events) => connectOrca(this.#grpc, target, this.#contexts, events),
    })
  }
}
