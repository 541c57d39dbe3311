import { BadNodeError, DuplicateNodeError } from '../errors.js'

/**
 * A server that work can be sent to: its id, or an object that has it. For picks by key an object may have a `key` too, a
 * string: what the node is known by among keys in place of its id, such as the name of a pod whose address changes.
 */
export type NodeLike = string | { readonly id: string; readonly key?: unknown }

/** The key of a node of this id. */
export type KeyOf = (node: NodeLike, id: string) => string

const MOST_ID_LENGTH = 1024

/** The id of a node as given, unchecked: whatever it is, for look-ups alone. */
export function looseId(node: unknown): unknown {
  return typeof node === 'object' && node !== null && 'id' in node ? node.id : node
}

/** The id of a node. Throws BadNodeError where it is not one. */
export function idOf(node: unknown): string {
  const id = looseId(node)
  if (typeof id !== 'string')
    throw new BadNodeError(node, 'expected a string, or an object with a string `id`')
  if (id.length === 0) throw new BadNodeError(node, 'an id has at least one character')
  if (id.length > MOST_ID_LENGTH) throw new BadNodeError(id, `an id has at most ${MOST_ID_LENGTH} characters`)
  if (id.includes('\0')) throw new BadNodeError(id, 'an id has no NUL character')
  return id
}

/** The key of a node for picks by key: what `keyOf` gives, else its `key`, else its id. Throws BadNodeError where it is no id. */
export function keyBy(keyOf: ((node: never) => string) | undefined): KeyOf {
  return (node, id) => {
    const key: unknown = keyOf === undefined ? ownKey(node) : keyOf(node as never)
    if (key === undefined && keyOf === undefined) return id
    if (typeof key === 'string' && key.length > 0 && key.length <= MOST_ID_LENGTH) return key
    const whose = keyOf === undefined ? 'its `key`' : 'what keyOf returns for it'
    throw new BadNodeError(node, `${whose} is a string of 1 to ${MOST_ID_LENGTH} characters`)
  }
}

function ownKey(node: NodeLike): unknown {
  return typeof node === 'object' ? node.key : undefined
}

/** The ids of several nodes, in order. Throws BadNodeError, or DuplicateNodeError where one stands twice. */
export function idsOf(nodes: readonly unknown[]): string[] {
  const seen = new Set<string>()
  // Not `map`, which passes over holes.
  return Array.from(nodes, (node) => {
    const id = idOf(node)
    if (seen.has(id)) throw new DuplicateNodeError(id)
    seen.add(id)
    return id
  })
}
