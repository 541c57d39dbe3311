import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import type { Algorithm } from '../algorithms/algorithm.js'
import type { EngineName } from '../engine/engine.js'
import { OptionError } from '../errors.js'
import type { TableBuffer } from '../table/memory.js'
import type { Member, MemberState, Place } from './members.js'

/** The members of a balancer, as they are posted to other threads. */
export interface PostedMembers {
  readonly ids: readonly string[]
  readonly places: readonly Place[]
  readonly states: readonly MemberState[]
}

/** What a worker thread needs to pick for a balancer of another thread; post it, then `attachBalancer` it there. */
export interface BalancerHandle {
  readonly kind: 'idlest-balancer'
  readonly name: string
  readonly buffer: TableBuffer
  readonly algorithm: Algorithm
  readonly engine: EngineName
  /** Whether the balancer has a clock of its own, which can't be posted. */
  readonly ownClock: boolean
  /** The channel on which member changes are told. */
  readonly channel: string
  readonly members: PostedMembers
}

/** What goes over a handle's channel. */
export type HandleMessage =
  | { readonly kind: 'members'; readonly members: PostedMembers }
  | { readonly kind: 'closed' }
  /** From a thread that attached: tell me the members, they may have changed on the way. */
  | { readonly kind: 'attached' }

export interface HandleServerOptions {
  readonly name: string
  readonly buffer: TableBuffer
  readonly algorithm: Algorithm
  readonly engine: EngineName
  readonly ownClock: boolean
  readonly members: () => readonly Member[]
}

/** Tells the threads that attached to a balancer of its members. */
export class HandleServer {
  readonly #options: HandleServerOptions
  readonly #name = `idlest:${randomUUID()}`
  readonly #channel = new BroadcastChannel(this.#name)
  #closed = false

  constructor(options: HandleServerOptions) {
    this.#options = options
    this.#channel.unref()
    this.#channel.onmessage = (event) => {
      const { kind } = (event as { data: HandleMessage }).data
      if (kind === 'attached') this.#tell()
    }
  }

  handle(): BalancerHandle {
    const { name, buffer, algorithm, engine, ownClock } = this.#options
    return {
      kind: 'idlest-balancer',
      name,
      buffer,
      algorithm,
      engine,
      ownClock,
      channel: this.#name,
      members: this.#members(),
    }
  }

  /** Tells of the members as they are now. */
  changed(): void {
    if (!this.#closed) this.#tell()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#channel.postMessage({ kind: 'closed' } satisfies HandleMessage)
    this.#channel.close()
  }

  #tell(): void {
    this.#channel.postMessage({ kind: 'members', members: this.#members() } satisfies HandleMessage)
  }

  #members(): PostedMembers {
    const list = this.#options.members()
    return {
      ids: list.map((member) => member.id),
      places: list.map(({ id, slot, generation }) => ({ id, slot, generation })),
      states: list.map((member) => member.state),
    }
  }
}

/** Checks that something is a handle. Throws OptionError. */
export function checkHandle(value: unknown): BalancerHandle {
  const handle = value as Partial<BalancerHandle> | null | undefined
  if (typeof handle !== 'object' || handle?.kind !== 'idlest-balancer') {
    throw new OptionError('handle', value, 'what balancer.handle() returned, posted to this thread')
  }
  return handle as BalancerHandle
}
