import { hasFields } from '../fields.js'
import type { Ranked } from './found.js'

/** A node of a file: all that stands there of it. */
export interface FileNode extends Ranked {
  /** The node's id, such as `10.0.0.1:8080`. */
  readonly id: string
  /** What else stands there of it. */
  readonly [field: string]: unknown
}

/** What stands in a file. */
export interface FileContent {
  readonly nodes: readonly FileNode[]
  /** Whether the end looks like one: half of a list of lines is a list of lines too. */
  readonly isEnded: boolean
}

// An array of JSON, whatever the file is called; not a line with an IPv6 address.
const ARRAY_START = /^\[\s*(["{\]]|$)/

/**
 * Reads a list of nodes: JSON, or a line a node, with comments after `#`. JSON is an array of ids or of objects with an
 * `id`, or an object with such an array as `nodes`.
 * @param isJson whether it has to be JSON; else it may be
 * @throws Error for what is neither; nodes are not checked
 */
export function readNodes(text: string, isJson = false): FileContent {
  const trimmed = text.replace(/^\uFEFF/, '').trim()
  if (trimmed === '') return { nodes: [], isEnded: true }
  if (isJson || trimmed.startsWith('{') || ARRAY_START.test(trimmed)) {
    return { nodes: fromJson(JSON.parse(trimmed)), isEnded: true }
  }
  const ids = trimmed.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*$/, '').trim())
  const nodes = ids.filter((id) => id !== '').map((id) => ({ id }))
  return { nodes, isEnded: text.endsWith('\n') }
}

function fromJson(value: unknown): FileNode[] {
  const list = hasFields(value) ? value.nodes : value
  if (!Array.isArray(list)) throw new Error('neither an array of nodes, nor an object with one as `nodes`')
  return list.map((node) => {
    if (typeof node === 'string') return { id: node }
    if (!hasFields(node))
      throw new Error('something in the array is neither an id nor an object with an `id`')
    return node as unknown as FileNode
  })
}
