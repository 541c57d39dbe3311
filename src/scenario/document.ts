import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
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

// YAML 1.2, of which JSON is a part: one reader for both, so that both have places. It compares each name with all others
// of its map, which for many takes minutes: that is done here.
const OPTIONS = { prettyErrors: false, stringKeys: true, uniqueKeys: false } as const

/** Reads YAML or JSON, or tells all that is wrong with it as such. */
export function parseText(text: string): ParsedDocument | { readonly problems: Problem[] } {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter })
  const placeOf = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const problemsOf = (faults: readonly Fault[]) => ({
    problems: faults.map(({ offset, message }) => ({ ...placeOf(offset), message })),
  })
  if (document.errors.length > 0) return problemsOf(firstErrors(document.errors))
  try {
    const twice = doubleNames(document)
    if (twice.length > 0) return problemsOf(twice)
    return {
      value: document.toJS(),
      place: (path, isName = false) => placeOf(offsetOf(document, path, isName)),
    }
  } catch (error) {
    // Aliases of aliases that would fill the memory.
    return problemsOf([{ offset: 0, message: error instanceof RangeError ? TOO_DEEP : reasonOf(error) }])
  }
}

const TOO_DEEP = 'this is nested too deep'

interface Fault {
  readonly offset: number
  readonly message: string
}

// What the parser says where it gives up says nothing of the file, and the rest comes of that.
function firstErrors(errors: readonly YAMLError[]): Fault[] {
  const told = errors.map(({ pos, message }) => ({ offset: pos[0], message }))
  const tooDeep = told.find(({ message }) => message.startsWith('Maximum call stack'))
  if (tooDeep !== undefined) return [{ ...tooDeep, message: TOO_DEEP }]
  const second = errors.find(({ code }) => code === 'MULTIPLE_DOCS')
  if (second !== undefined)
    return [{ offset: second.pos[0], message: 'a second document begins: one is a scenario' }]
  return told
}

function doubleNames(document: Document): Fault[] {
  const found: Fault[] = []
  visit(document, {
    Map(_, { items }) {
      const names = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (names.has(key.value))
          found.push({ offset: key.range?.[0] ?? 0, message: 'Map keys must be unique' })
        names.add(key.value)
      }
    },
  })
  return found
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
  const pair = pairsOf(node).get(String(key))
  return pair && { name: pair.key, value: pair.value }
}

type Pair = YAMLMap<Node, Node | null>['items'][number]

const pairs = new WeakMap<YAMLMap<Node, Node | null>, ReadonlyMap<string, Pair>>()

// By name: places are asked for one by one, and there may be many.
function pairsOf(map: YAMLMap<Node, Node | null>): ReadonlyMap<string, Pair> {
  let named = pairs.get(map)
  if (named === undefined) {
    named = new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])))
    pairs.set(map, named)
  }
  return named
}

function resolved(document: Document, node: Node | null): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node
}
