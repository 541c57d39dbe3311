import { BadNodeError, DuplicateNodeError } from '../errors.js'

/** A server that work can be sent to: its id, or an object that has it. */
export type NodeLike = string | { readonly id: string }

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
