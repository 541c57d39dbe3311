import { reasonOf, shown } from '../errors.js'
import { ignoreRejection } from '../rejections.js'
import type { Entry } from '../table/table.js'
import type { Place } from './store.js'
import {
  A_TRANSPORT,
  type CustomTransport,
  isCustom,
  isTransport,
  type Transport,
  type TransportOption,
} from './transport.js'
import { resolveBuiltIn, type Target } from './transports/kinds.js'

/** A node that is asked by the user's own transport, which can't cross threads. */
export interface CustomTarget {
  readonly kind: 'custom'
  readonly id: string
  readonly transport: CustomTransport
}

/** A node that can't be asked, and why. */
export interface NoTarget {
  readonly kind: 'none'
  readonly id: string
  readonly reason: string
}

/** A node for the polling thread to ask, with its slot. */
export type PlacedTarget = Target & Place

/** A node to be asked on this thread, with its slot. */
export type LocalTarget = PlacedTarget | (CustomTarget & Place)

/** Works out how a node is asked. Never throws: a node that can't be asked fails alone. */
export function resolveTarget(id: string, transport: Transport): Target | CustomTarget | NoTarget {
  try {
    return isCustom(transport) ? { kind: 'custom', id, transport } : resolveBuiltIn(id, transport)
  } catch (error) {
    return { kind: 'none', id, reason: reasonOf(error) }
  }
}

/** How the nodes of one balancer are asked, by polls and by probes: worked out once for each that joins. */
export class Targets {
  readonly #transport: TransportOption | undefined
  readonly #known = new WeakMap<Entry, Target | CustomTarget | NoTarget>()

  constructor(transport: TransportOption | undefined) {
    this.#transport = transport
  }

  of(entry: Entry): Target | CustomTarget | NoTarget {
    let target = this.#known.get(entry)
    if (target === undefined) {
      target = this.#resolve(entry.id)
      this.#known.set(entry, target)
    }
    return target
  }

  #resolve(id: string): Target | CustomTarget | NoTarget {
    if (this.#transport === undefined) return { kind: 'none', id, reason: 'nodes are not polled' }
    if (typeof this.#transport !== 'function') return resolveTarget(id, this.#transport)
    try {
      const transport: unknown = this.#transport(id)
      if (isTransport(transport)) return resolveTarget(id, transport)
      ignoreRejection(transport)
      return {
        kind: 'none',
        id,
        // Not the text itself, which may be a token.
        reason: `poll.transport gave ${typeof transport === 'string' ? 'a string' : shown(transport)} for it: expected ${A_TRANSPORT}`,
      }
    } catch (error) {
      return { kind: 'none', id, reason: `poll.transport threw for it: ${reasonOf(error)}` }
    }
  }
}
