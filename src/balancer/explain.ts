import { type ExplainOthers, type Grounds, percent } from '../algorithms/explain.js'
import { definitionOfKind } from '../algorithms/registry.js'
import type { NodeLike } from './node.js'
import { type Reason, type Rules, reasonsOf } from './reasons.js'
import type { NodeSnapshot } from './snapshot.js'

/** Why a member would or would not be picked now. */
export interface Explanation<N extends NodeLike = NodeLike> {
  /** The node, as it was given. */
  readonly node: N
  /** The node's id. */
  readonly id: string
  /** Whether it may be picked now. How often is by chance and by the others: see `share`. */
  readonly mayBePicked: boolean
  /** The chance that the next draw is this node, 0-1, before weights that were told, limits and `maxShare`. */
  readonly share: number
  /** All of it as a person reads it. */
  readonly words: string
  /** Why it is not picked; undefined where it may be. */
  readonly reason: Reason | undefined
  /** Why it may be picked; undefined where it may not. */
  readonly grounds: Grounds | undefined
  /** What is known of it. */
  readonly facts: NodeSnapshot<N>
  /** What of the balancer decides it. */
  readonly rules: Rules
}

/**
 * Explains all members.
 * @param self the id of the local node
 */
export function explain<N extends NodeLike>(
  nodes: readonly NodeSnapshot<N>[],
  rules: Rules,
  self: string | undefined,
): Explanation<N>[] {
  const unpicked = reasonsOf(nodes, rules)
  const others = othersOf(
    nodes.filter((_, i) => unpicked[i] === undefined),
    self,
  )
  const { grounds: groundsOf } = definitionOfKind(rules.algorithm).explain
  return nodes.map((facts, i) => {
    const out = unpicked[i]
    const explained = out === undefined ? groundsOf(facts, others, rules) : undefined
    const { node, id, share } = facts
    const words = out === undefined ? '' : `not picked: ${out.words}`
    return {
      node,
      id,
      mayBePicked: out === undefined,
      share,
      words: explained === undefined ? words : pickedWords(facts, explained.words, rules),
      reason: out?.reason,
      grounds: explained?.grounds,
      facts,
      rules,
    }
  })
}

function othersOf(nodes: readonly NodeSnapshot[], self: string | undefined): ExplainOthers {
  let least = Number.POSITIVE_INFINITY
  for (const { effective } of nodes) if (effective !== undefined && effective < least) least = effective
  return { hasFresh: nodes.some(({ fresh }) => fresh), least, self }
}

function pickedWords(facts: NodeSnapshot, why: string, rules: Rules): string {
  const { share, suspect, told, ejected, state, poll, unreachable } = facts
  const draws = share > 0 ? `, ${percent(share * 100)} % of draws` : ''
  const notes = [`may be picked${draws}: ${why}`]
  if (told.weight !== undefined && told.weight !== 100) {
    notes.push(`reported a weight of ${percent(told.weight)} %`)
  }
  if (poll !== undefined) {
    const times = poll.count === 1 ? 'its last poll failed' : `its last ${poll.count} polls failed`
    notes.push(
      `${times}: ${poll.reason}${unreachable ? '; it is unreachable, and gets a twentieth of its share' : ''}`,
    )
  } else if (unreachable) notes.push('unreachable by polls, and gets a twentieth of its share')
  if (suspect !== undefined) notes.push(`suspect${SUSPECT[suspect]}, and gets half of its share`)
  if (rules.isOpen && (ejected !== undefined || state === 'down')) {
    notes.push(`though ${state === 'down' ? 'down' : 'ejected'}, as all are`)
  }
  return notes.join('; ')
}

const SUSPECT = { failing: ' since it fails', slow: ' since it is slow', elsewhere: '' } as const
