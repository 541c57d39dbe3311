import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { reasonOf } from '../errors.js'

/** Where something stands in a file; both from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** What is wrong at a place. */
export interface Problem extends Place {
  readonly message: string
}

/** A file of YAML or JSON, as a value and by place. */
export interface ParsedDocument {
  readonly value: unknown
  /**
   * Where a value stands, or with `isName` the name before it; of what is not there, what it is missing from.
   * @param path names and indices that lead to it
   */
  place(path: readonly (string | number)[], isName?: boolean): Place
}

// YAML 1.2, of which JSON is a part: one reader for both, so that both have places.
const OPTIONS = { prettyErrors: false, stringKeys: true } as const

/** Reads YAML or JSON, or tells all that is wrong with it as such. */
export function parseText(text: string): ParsedDocument | { readonly problems: Problem[] } {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter })
  const placeOf = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const problems = document.errors.map(({ pos, message }) => ({ ...placeOf(pos[0]), message }))
  if (problems.length > 0) return { problems }
  try {
    return {
      value: document.toJS(),
      place: (path, isName = false) => placeOf(offsetOf(document, path, isName)),
    }
  } catch (error) {
    // Aliases of aliases that would fill the memory.
    return { problems: [{ line: 1, column: 1, message: reasonOf(error) }] }
  }
}

function offsetOf(document: Document, path: readonly (string | number)[], isName: boolean): number {
  let node = resolved(document, document.contents)
  let offset = node?.range?.[0] ?? 0
  for (const [i, key] of path.entries()) {
    const isLast = i === path.length - 1
    const found = child(node, key)
    if (found === undefined) break
    const at = isLast && isName ? found.name : found.value
    offset = at?.range?.[0] ?? found.name?.range?.[0] ?? offset
    node = resolved(document, found.value)
  }
  return offset
}

interface Child {
  readonly name: Node | null
  readonly value: Node | null
}

function child(node: Node | null, key: string | number): Child | undefined {
  if (isSeq<Node>(node)) {
    const value = node.items[Number(key)]
    return value && { name: null, value }
  }
  if (!isMap<Node, Node | null>(node)) return undefined
  const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.value) === String(key))
  return pair && { name: pair.key, value: pair.value }
}

function resolved(document: Document, node: Node | null): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node
}
