import { isDeepStrictEqual } from 'node:util'
import { idsOf, type NodeLike } from '../balancer/node.js'
import type { FoundNode } from '../balancer/node-source.js'
import { OptionError } from '../errors.js'

/** What a discovery reads of a node beside its id, where the node is an object that has it. */
export interface Ranked {
  /**
   * Its part of the picks by that of the others: 0 to 1e12, 0: never picked. Default 1. Not of picks by key, for which
   * the algorithm has weights of its own.
   */
  readonly weight?: number | undefined
  /**
   * A whole number from 0 to 65,535, as of SRV records: while any node of the lowest number is up, the others are in
   * reserve. A node is up unless it is ejected, or was told or says itself that it takes no work. Default 0.
   */
  readonly priority?: number | undefined
}

const MAX_WEIGHT = 1e12
const MAX_PRIORITY = 65_535

/**
 * Checks nodes that were found, and works out what each is to get.
 * @throws BadNodeError, DuplicateNodeError, OptionError
 */
export function foundOf<N extends NodeLike>(nodes: readonly N[]): FoundNode<N>[] {
  const ids = idsOf(nodes)
  const ranks = nodes.map((node) => rankOf(node))
  const largest = new Map<number, number>()
  for (const { weight, priority } of ranks) {
    largest.set(priority, Math.max(weight, largest.get(priority) ?? 0))
  }
  return nodes.map((node, i) => {
    const { weight, priority: tier } = ranks[i] as Required<Ranked>
    const most = largest.get(tier) as number
    return { node, id: ids[i] as string, tier, part: most === 0 ? 0 : weight / most }
  })
}

/** Checks what a node is to get. Throws OptionError. */
export function rankOf(node: NodeLike): Required<Ranked> {
  const fields: { readonly id?: string; readonly weight?: unknown; readonly priority?: unknown } =
    typeof node === 'string' ? {} : node
  const { weight = 1, priority = 0 } = fields
  if (typeof weight !== 'number' || !(weight >= 0 && weight <= MAX_WEIGHT)) {
    throw new OptionError('weight', weight, `a number from 0 to ${MAX_WEIGHT}`)
  }
  if (
    typeof priority !== 'number' ||
    !Number.isInteger(priority) ||
    priority < 0 ||
    priority > MAX_PRIORITY
  ) {
    throw new OptionError('priority', priority, `a whole number from 0 to ${MAX_PRIORITY}`)
  }
  return { weight, priority }
}

/** The same nodes, but those that were found before as they are now, as the very objects that they were then. */
export function keptOf<N extends { readonly id: string }>(before: readonly N[], nodes: readonly N[]): N[] {
  const known = new Map(before.map((node) => [node.id, node]))
  return nodes.map((node) => {
    const kept = known.get(node.id)
    return kept !== undefined && isDeepStrictEqual(kept, node) ? kept : node
  })
}
