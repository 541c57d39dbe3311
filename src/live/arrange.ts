import type { LiveNode } from './live-view.js'

/** What nodes can be sorted by. */
export const SORT_KEYS = [
  'id',
  'state',
  'cpu',
  'age',
  'load',
  'share',
  'sentShare',
  'inFlight',
  'picksPerSecond',
  'failed',
  'latency',
  'weight',
  'ejected',
  'polls',
  'why',
] as const

export type SortKey = (typeof SORT_KEYS)[number]

/** Which nodes: all; those that may be picked; those that are not; those with which something is wrong. */
export const CHOICES = ['all', 'picked', 'out', 'trouble'] as const

export type Choice = (typeof CHOICES)[number]

/** Which nodes are shown, and in which order. */
export interface Arrangement {
  /** Undefined: in the balancer's own order. */
  readonly sort: SortKey | undefined
  readonly isDescending: boolean
  /** Words that all have to be found in what is known of a node: its id, its state, why it is not picked. */
  readonly filter: string
  readonly choice: Choice
}

/** What the algorithm goes by: a load or a cost. */
export function loadOf({ effective, cost }: LiveNode): number | undefined {
  return effective ?? cost
}

/**
 * The weight that `weightedRoundRobin` found by reports; else the fixed one, times what the node told of it. Undefined
 * where none is known, or both are 1.
 */
export function weightOf({ weight, fixedWeight = 1, told }: LiveNode): number | undefined {
  if (weight !== undefined) return weight
  // More than 100 % counts as 100 %.
  const part = Math.min(told.weight ?? 100, 100) / 100
  return fixedWeight === 1 && part === 1 ? undefined : fixedWeight * part
}

/** Share of its requests that failed, 0-1; undefined where none is known of. */
export function failedShare({ failed, released }: LiveNode): number | undefined {
  return released === 0 ? undefined : failed / released
}

/** Whether something is wrong with a node, picked or not. */
export function isInTrouble({ state, ejected, suspect, poll }: LiveNode): boolean {
  return state === 'down' || ejected !== undefined || suspect !== undefined || poll !== undefined
}

/** These nodes, of those the ones that are asked for; equal ones stay in the balancer's order. */
export function arrange(nodes: readonly LiveNode[], arrangement: Arrangement): readonly LiveNode[] {
  const { sort, isDescending, filter, choice } = arrangement
  const isMatch = matcher(filter)
  const chosen = nodes.filter((node) => isChosen(node, choice) && isMatch(node))
  if (sort === undefined) return chosen
  const keys = chosen.map((node) => keyOf(node, sort))
  const order = [...chosen.keys()].sort((a, b) => compare(keys[a], keys[b], isDescending) || a - b)
  return order.map((i) => chosen[i] as LiveNode)
}

function isChosen(node: LiveNode, choice: Choice): boolean {
  if (choice === 'picked') return node.reason === undefined
  if (choice === 'out') return node.reason !== undefined
  return choice === 'all' || isInTrouble(node)
}

/** Tells whether the words of a filter are all found in what is known of a node: its id, its state, why it is not picked. */
export function matcher(filter: string): (node: LiveNode) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return words.length === 0 ? () => true : (node) => hasWords(node, words)
}

function hasWords(node: LiveNode, words: readonly string[]): boolean {
  const { id, state, why = '', suspect, ejected, poll } = node
  const marks = [suspect && 'suspect', ejected && 'ejected', poll && `unreachable ${poll.reason}`]
  const text = `${id} ${state} ${why} ${marks.filter(Boolean).join(' ')}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** What nodes are sorted by. */
export type Key = number | string | undefined

function keyOf(node: LiveNode, sort: SortKey): Key {
  if (sort === 'load') return loadOf(node)
  if (sort === 'failed') return failedShare(node)
  if (sort === 'weight') return weightOf(node)
  if (sort === 'ejected') return node.ejected && (node.ejected.remaining ?? 0)
  if (sort === 'polls') return node.poll?.count
  return node[sort]
}

// 10.0.0.9 before 10.0.0.10.
const { compare: compareText } = new Intl.Collator('en', { numeric: true })

/** What is not known comes last, whichever the direction. */
export function compare(a: Key, b: Key, isDescending: boolean): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  const order = typeof a === 'number' ? a - (b as number) : compareText(a, b as string)
  return isDescending ? -order : order
}
