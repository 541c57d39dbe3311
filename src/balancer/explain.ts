import { type Candidates, type Grounds, groundsOf } from './grounds.js'
import type { NodeLike } from './node.js'
import { percent, short, wordsFor } from './reason-words.js'
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
  const reasons = reasonsOf(nodes, rules)
  const candidates = candidatesOf(nodes.filter((_, i) => reasons[i] === undefined))
  return nodes.map((facts, i) => {
    const reason = reasons[i]
    const grounds = reason === undefined ? groundsOf(facts, rules, candidates, self) : undefined
    const { node, id, share } = facts
    const words = reason === undefined ? '' : `not picked: ${wordsFor(reason)}`
    return {
      node,
      id,
      mayBePicked: reason === undefined,
      share,
      words: grounds === undefined ? words : pickedWords(facts, grounds, rules),
      reason,
      grounds,
      facts,
      rules,
    }
  })
}

function candidatesOf(nodes: readonly NodeSnapshot[]): Candidates {
  let least = Number.POSITIVE_INFINITY
  for (const { effective } of nodes) if (effective !== undefined && effective < least) least = effective
  return { hasFresh: nodes.some(({ fresh }) => fresh), least }
}

function pickedWords(facts: NodeSnapshot, grounds: Grounds, rules: Rules): string {
  const { share, suspect, told, ejected, state } = facts
  const draws = share > 0 ? `, ${percent(share * 100)} % of draws` : ''
  const notes = [`may be picked${draws}: ${groundsWords(grounds)}`]
  if (told.weight !== undefined && told.weight !== 100) {
    notes.push(`reported a weight of ${percent(told.weight)} %`)
  }
  if (suspect !== undefined) notes.push(`suspect${SUSPECT[suspect]}, and gets half of its share`)
  if (rules.isOpen && (ejected !== undefined || state === 'down')) {
    notes.push(`though ${state === 'down' ? 'down' : 'ejected'}, as all are`)
  }
  return notes.join('; ')
}

const SUSPECT = { failing: ' since it fails', slow: ' since it is slow', elsewhere: '' } as const

function groundsWords(grounds: Grounds): string {
  switch (grounds.code) {
    case 'even':
      return 'no member has a fresh report'
    case 'band':
      return `${grounds.isAssumed ? 'without a fresh report taken to be ' : ''}in the band, ${percent(grounds.load)} % against ${percent(grounds.least)} % + ${percent(grounds.threshold)}`
    case 'spare':
      return grounds.cpu === undefined
        ? 'without a fresh report it counts as the mean'
        : `CPU of ${percent(grounds.cpu)} %`
    case 'cost':
      return `counts as taking ${short(grounds.cost)} ms a request`
    case 'weight':
      return grounds.weight === undefined
        ? 'its weight is not known, and counts as the mean'
        : `weight ${short(grounds.weight)}`
    case 'compared':
      return grounds.load === undefined
        ? 'its load is not known'
        : `its load of ${short(grounds.load)} is compared with others'`
    case 'inFlight':
      return `its ${grounds.inFlight} in flight are compared with others'`
    case 'turn':
      return 'as all are that take work'
    case 'local':
      return 'the local node'
    case 'standIn':
      return 'the local node takes no work'
    case 'key':
      return 'keys fall to it'
    case 'custom':
      return 'the algorithm decides'
  }
}
