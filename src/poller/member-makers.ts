import type { Clock } from '../clock.js'
import { isOutOfDescriptors, needDescriptors } from '../descriptors.js'
import { reasonOf } from '../errors.js'
import { loadNats } from '../optional-package.js'
import { CustomMembers } from './custom-member.js'
import { type PlacedMember, UnaskableMember } from './member.js'
import type { Sink } from './sink.js'
import type { Place } from './store.js'
import type { CustomTarget, LocalTarget } from './targets.js'
import type { Kind, Target } from './transports/kinds.js'

/** What members are made with. */
export interface MakerContext {
  readonly clock: Clock
  readonly sink: Sink
  /** Handling what a node sent threw where nobody waits for an answer: nothing more is wanted of this member. */
  readonly onFault: (member: PlacedMember, error: unknown) => void
}

/** Makes one poller's members of one kind; what they share, such as TLS contexts or a connection, is kept here. */
export interface MemberMaker<T> {
  make(target: T, place: Place): PlacedMember
  /** Lets go of what members share; all of them are closed. */
  close?(): void
}

type AnyKind = Kind | 'custom'

type AnyTarget<K extends AnyKind = AnyKind> = {
  [P in K]: (P extends Kind ? Target<P> : CustomTarget) & { readonly kind: P }
}[K]

type Makers = { [K in AnyKind]: MemberMaker<AnyTarget<K>> }

type Loaders = {
  readonly [K in AnyKind]: (context: MakerContext) => Makers[K] | Promise<Makers[K]>
}

// Each kind's module is loaded where it is used, and optional packages only where a node needs them.
const loaders: Loaders = {
  custom: (context) => new CustomMembers(context),
  http: async (context) => (await import('./orca-reading.js')).orcaMembers(context),
  orca: async (context) => new (await import('./orca-members.js')).OrcaMembers(context),
  nats: async (context) => {
    // What is missing is told once, and not at each attempt to connect.
    await loadNats()
    return new (await import('./nats-member.js')).NatsMembers(context)
  },
  'agent-check': async (context) => new (await import('./agent-check-member.js')).AgentCheckMembers(context),
  'node-exporter': async (context) => (await import('./cpu-rate.js')).nodeExporterMembers(context),
}

/** Makes one poller's members, of whatever kind. */
export class MemberMakers {
  readonly #context: MakerContext
  readonly #makers: Partial<Makers> = {}
  readonly #loading = new Map<AnyKind, Promise<void>>()
  // Why kinds could not be loaded; and those of them that are tried again.
  readonly #failed = new Map<AnyKind, string>()
  readonly #retried = new Set<AnyKind>()
  #closed = false

  constructor(context: MakerContext) {
    this.#context = context
  }

  /** Tries again what could not be loaded for want of file descriptors. */
  retry(): void {
    for (const kind of this.#retried) this.#failed.delete(kind)
    this.#retried.clear()
  }

  /** Loads what these need; undefined where all of it is there. Never rejects. */
  load(targets: Iterable<LocalTarget>): Promise<void> | undefined {
    const loading = new Set<Promise<void>>()
    for (const { kind } of targets) {
      const one = this.#load(kind)
      if (one !== undefined) loading.add(one)
    }
    return loading.size === 0 ? undefined : Promise.all(loading).then(() => {})
  }

  /** Makes a member of a kind that is loaded. One whose kind could not be can't be asked. */
  make<K extends AnyKind>(target: AnyTarget<K> & Place): PlacedMember {
    const kind: K = target.kind
    const maker = this.#makers[kind]
    if (maker !== undefined) return maker.make(target, target)
    return new UnaskableMember(target.id, target, this.#failed.get(kind) ?? `${kind} was not loaded`)
  }

  /** Whether what members of this kind need could not be loaded, but may be later. */
  isRetried(kind: AnyKind): boolean {
    return this.#retried.has(kind)
  }

  /** Lets go of what members share. */
  close(): void {
    this.#closed = true
    for (const maker of Object.values(this.#makers)) maker.close?.()
  }

  #load<K extends AnyKind>(kind: K): Promise<void> | undefined {
    if (this.#makers[kind] !== undefined || this.#failed.has(kind)) return undefined
    const before = this.#loading.get(kind)
    if (before !== undefined) return before
    try {
      if (kind !== 'custom') needDescriptors()
    } catch (error) {
      this.#fail(kind, error)
      return undefined
    }
    const made = loaders[kind](this.#context)
    if (!(made instanceof Promise)) {
      this.#keep(kind, made)
      return undefined
    }
    const loading = made.then(
      (maker) => this.#keep(kind, maker),
      (error: unknown) => this.#fail(kind, error),
    )
    this.#loading.set(kind, loading)
    return loading
  }

  #fail(kind: AnyKind, error: unknown): void {
    this.#failed.set(kind, reasonOf(error))
    this.#loading.delete(kind)
    if (isOutOfDescriptors(error)) this.#retried.add(kind)
  }

  #keep<K extends AnyKind>(kind: K, maker: Makers[K]): void {
    if (this.#closed) maker.close?.()
    else this.#makers[kind] = maker
  }
}
