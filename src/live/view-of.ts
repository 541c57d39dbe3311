import type { Unpicked } from '../algorithms/explain.js'
import { type Reason, reasonsOf } from '../balancer/reasons.js'
import type { LiveHead, LiveNode, LiveView } from './live-view.js'

/** A member that is being read: what follows from the others comes last. */
export type PartialNode = { -readonly [K in keyof LiveNode]: LiveNode[K] }

/** Completes a view by what follows from it: each member's part of the picks, and why it is not picked. */
export function viewOf(head: LiveHead, nodes: readonly PartialNode[]): LiveView {
  let sum = 0
  for (const { picksPerSecond } of nodes) sum += picksPerSecond
  const unpicked = reasonsOf(nodes, head.rules)
  for (const [i, node] of nodes.entries()) completed(node, unpicked[i], sum)
  return { ...head, nodes }
}

/**
 * Completes one member.
 * @param sum picks per second of all members
 */
export function completed(node: PartialNode, out: Unpicked<Reason> | undefined, sum: number): LiveNode {
  if (sum > 0) node.sentShare = node.picksPerSecond / sum
  if (out !== undefined) {
    node.reason = out.reason.code
    node.why = out.words
  }
  return node
}
