// `node .ci/kinds.mjs`: no code outside the algorithms' own modules asks which algorithm it is. What differs between
// algorithms is said by their definitions in src/algorithms, and in Rust by their trait.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Words that are an algorithm's name and mean something else in these places.
 * @type {readonly { readonly under: string, readonly name: string, readonly why: string }[]}
 */
const OTHER_MEANINGS = [
  { under: 'src/poller/', name: 'custom', why: 'a kind of transport: a function of the user' },
  { under: 'src/algorithms/explain.ts', name: 'local', why: 'a code of grounds' },
  { under: 'src/algorithms/explain.ts', name: 'custom', why: 'a code of grounds' },
  { under: 'src/balancer/custom.ts', name: 'custom', why: 'what a picker is called that has no name' },
  { under: 'src/scene/model/inputs.ts', name: 'adaptive', why: 'a policy, as links have it' },
  { under: 'src/cli/demo/', name: 'leastCpu', why: 'the one that the demo shows' },
]

/**
 * Modules that import from one algorithm's folder.
 * @type {readonly { readonly from: string, readonly why: string }[]}
 */
const USERS = [
  { from: 'src/index.ts', why: 'exports the functions that make algorithms' },
  {
    from: 'src/scene/model/inputs.ts',
    why: 'makes the policies of the scene, in a page that has no other part of idlest',
  },
  { from: 'crates/node/src/key_tables.rs', why: 'builds the same in Rust' },
  {
    from: 'src/engine/portable/key-tables.ts',
    why: 'builds the tables that both engines build: `KeyTables`',
  },
]

const TRAIT = 'crates/core/src/algorithms/mod.rs'

/** What gives away that Rust looks behind a trait. */
const DOWNCASTS = new Set([
  'Any',
  'TypeId',
  'as_any',
  'downcast',
  'downcast_ref',
  'downcast_mut',
  'type_name',
])

/** Names that are common words: as a single key of an object they mean something else. */
const COMMON = new Set(['adaptive', 'custom', 'local', 'random'])

/**
 * @typedef {object} Token
 * @property {'word' | 'string' | 'sign'} type
 * @property {string} text of a string what it says
 * @property {number} line
 */

/**
 * @param {string} source
 * @param {boolean} isRust
 * @returns {Token[]} without comments
 */
function tokensOf(source, isRust) {
  /** @type {Token[]} */
  const tokens = []
  const pattern = isRust
    ? /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"\\]|\\.)*)"|'(?:[^'\\\n]|\\.)'|([A-Za-z_]\w*)|([=!]=|=>|[^\s\w])/g
    : /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.|\$(?!\{))*)`|([A-Za-z_$][\w$]*)|([=!]==?|=>|\?\?|[^\s\w])/g
  let line = 1
  let at = 0
  for (const match of source.matchAll(pattern)) {
    for (; at < match.index; at++) if (source[at] === '\n') line++
    const groups = match.slice(1)
    const strings = isRust ? groups.slice(0, 1) : groups.slice(0, 3)
    const [word, sign] = groups.slice(strings.length)
    const text = strings.find((one) => one !== undefined)
    if (text !== undefined) tokens.push({ type: 'string', text, line })
    else if (word !== undefined) tokens.push({ type: 'word', text: word, line })
    else if (sign !== undefined) tokens.push({ type: 'sign', text: sign, line })
  }
  return tokens
}

const COMPARISONS = new Set(['===', '!==', '==', '!='])
const LOOK_UPS = new Set([
  'test',
  'match',
  'search',
  'is',
  'add',
  'includes',
  'has',
  'get',
  'indexOf',
  'hasOwn',
  'startsWith',
  'endsWith',
  'localeCompare',
])

/**
 * @param {readonly Token[]} tokens
 * @param {number} i of a string
 * @returns {string | undefined} how it is compared
 */
function comparisonOf(tokens, i) {
  const before = tokens[i - 1]
  const after = tokens[i + 1]
  for (const near of [before, after]) {
    if (near?.type === 'sign' && COMPARISONS.has(near.text)) return near.text
  }
  if (before?.type === 'word' && before.text === 'case') return 'case'
  if (after?.type === 'word' && after.text === 'in') return 'in'
  const isArgument = before?.type === 'sign' && (before.text === '(' || before.text === ',')
  if (isArgument) {
    let k = i - 1
    while (k > 0 && tokens[k]?.text !== '(') k--
    const called = tokens[k - 1]
    if (called?.type === 'word' && LOOK_UPS.has(called.text)) return called.text
  }
  return undefined
}

/**
 * @param {readonly Token[]} tokens
 * @param {ReadonlySet<string>} names
 * @returns {{ line: number, what: string }[]} lists and objects of names
 */
function collectionsOf(tokens, names) {
  /** @type {{ line: number, what: string }[]} */
  const found = []
  /** @type {{ open: string, line: number, keys: string[], elements: string[] }[]} */
  const open = []
  for (const [i, token] of tokens.entries()) {
    const before = tokens[i - 1]?.text
    const after = tokens[i + 1]?.text
    const inside = open.at(-1)
    if (token.type === 'sign' && '([{'.includes(token.text)) {
      open.push({ open: token.text, line: token.line, keys: [], elements: [] })
    } else if (token.type === 'sign' && ')]}'.includes(token.text)) {
      const closed = open.pop()
      if (closed === undefined) continue
      const { keys, elements } = closed
      const plain = keys.filter((key) => !COMMON.has(key))
      if (plain.length > 0 || keys.length > 1)
        found.push({ line: closed.line, what: `object keyed by ${keys}` })
      if (elements.length > 0 && closed.open === '[')
        found.push({ line: closed.line, what: `list of ${elements}` })
    } else if (token.type !== 'sign' && names.has(token.text) && inside !== undefined) {
      const isFirst = before === '{' || before === ',' || before === '['
      if (inside.open === '{' && isFirst && after === ':') inside.keys.push(token.text)
      // Shorthand in an object, but not what is imported, exported or taken apart.
      if (inside.open === '[' && token.type === 'string' && isFirst) inside.elements.push(token.text)
    }
  }
  return found
}

/**
 * A name as a type of Rust and as part of an identifier has it: `LeastCpu`.
 * @param {string} name
 */
const pascal = (name) => `${name[0]?.toUpperCase()}${name.slice(1)}`

/**
 * A name as a module of Rust has it: `least_cpu`.
 * @param {string} name
 */
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Comparisons of `algorithm.kind` with anything, look-ups by it, and looks for a field that only some algorithms have.
 * @param {readonly Token[]} tokens
 * @param {number} i
 * @returns {string | undefined}
 */
function lookAtAlgorithm(tokens, i) {
  const text = (/** @type {number} */ at) => tokens[at]?.text ?? ''
  const isAlgorithm = (/** @type {number} */ at) =>
    tokens[at]?.type === 'word' && /algorithm$/i.test(text(at))
  if (tokens[i]?.type === 'string' && text(i + 1) === 'in' && isAlgorithm(i + 2)) return `field ${text(i)}`
  if (!isAlgorithm(i) || text(i + 1) !== '.' || text(i + 2) !== 'kind') return undefined
  const after = text(i + 3)
  // Where the whole of `options.algorithm.kind` begins.
  let first = i
  while (text(first - 1) === '#' || (text(first - 1) === '.' && tokens[first - 2]?.type === 'word'))
    first -= text(first - 1) === '#' ? 1 : 2
  const before = text(first - 1)
  if (COMPARISONS.has(after) || COMPARISONS.has(before)) return 'comparison of kinds'
  if (before === '(' && text(first - 2) === 'switch') return 'switch'
  if (before === '[' && after === ']' && tokens[first - 2]?.type === 'word') return 'look-up by kind'
  if (after === '.' && LOOK_UPS.has(text(i + 4))) return text(i + 4)
  const isArgument = (before === '(' || before === ',') && (after === ')' || after === ',')
  if (isArgument && text(first - 3) === '.' && LOOK_UPS.has(text(first - 2))) return text(first - 2)
  return undefined
}

/**
 * @param {readonly Token[]} tokens of Rust
 * @param {ReadonlySet<string>} names
 * @returns {{ line: number, what: string }[]} where one algorithm's module or type is named
 */
function namedInRust(tokens, names) {
  const modules = new Set([...names].map(snake))
  const types = new Set([...names].map(pascal))
  /** @type {{ line: number, what: string }[]} */
  const found = []
  for (const [i, { type, text, line }] of tokens.entries()) {
    if (type === 'string' && names.has(text)) found.push({ line, what: `'${text}'` })
    if (type !== 'word') continue
    if (DOWNCASTS.has(text)) found.push({ line, what: text })
    if (types.has(text)) found.push({ line, what: text })
    if (text !== 'algorithms' || tokens[i + 1]?.text !== ':') continue
    // A path, or all of `algorithms::{…}`.
    let depth = 0
    for (let at = i + 3; at < tokens.length; at++) {
      const token = tokens[at]
      if (token?.text === '{') depth++
      else if (token?.text === '}') depth--
      else if (token?.type === 'word' && modules.has(token.text))
        found.push({ line: token.line, what: `import from ${token.text}` })
      if (depth === 0) break
    }
  }
  return found
}

/**
 * Where the trait of Rust, or what makes algorithms, uses more of one than its `make`.
 * @param {string} source
 * @param {ReadonlySet<string>} names of algorithms
 * @returns {{ line: number, what: string }[]}
 */
export function usedByTrait(source, names) {
  const modules = new Set([...names].map(snake))
  const tokens = tokensOf(source, true)
  return tokens
    .map(({ text, line }, i) => ({
      line,
      what: text,
      used: tokens[i + 3]?.text,
      isPath: tokens[i + 2]?.text === ':',
    }))
    .filter(({ what, used, isPath }) => modules.has(what) && isPath && used !== 'make')
    .map(({ line, what, used }) => ({ line, what: `${what}::${used}` }))
}

/**
 * Where a source asks which algorithm it is.
 * @param {string} source
 * @param {ReadonlySet<string>} names of algorithms
 * @param {boolean} isRust
 * @returns {{ line: number, what: string }[]}
 */
export function kindChecks(source, names, isRust = false) {
  const tokens = tokensOf(source, isRust)
  if (isRust) return namedInRust(tokens, names)
  /** @type {{ line: number, what: string }[]} */
  const found = []
  const asks = new RegExp(
    `^(is|has|as|uses|needs|only|if|when)(${[...names].map(pascal).join('|')})|^(${[...names].join('|')})Of$`,
  )
  for (const [i, { type, text, line }] of tokens.entries()) {
    if (type === 'string' && names.has(text)) {
      found.push({ line, what: `${comparisonOf(tokens, i) ?? 'the name'} '${text}'` })
    }
    if (type === 'word' && asks.test(text)) found.push({ line, what: text })
    const look = lookAtAlgorithm(tokens, i)
    if (look !== undefined) found.push({ line, what: look })
    const folder = type === 'string' && /\/algorithms\/([\w-]+)\/\w/.exec(text)?.[1]
    if (folder && !isTypeImport(tokens, i)) found.push({ line, what: `import from ${folder}` })
  }
  return [...found, ...collectionsOf(tokens, names)]
}

/**
 * @param {readonly Token[]} tokens
 * @param {number} i of the path
 */
function isTypeImport(tokens, i) {
  for (let at = i; at >= 0; at--) if (tokens[at]?.text === 'import') return tokens[at + 1]?.text === 'type'
  return false
}

/**
 * @param {string} folder
 * @param {RegExp} extension
 * @returns {string[]}
 */
function filesIn(folder, extension) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => extension.test(file))
    .map((file) => join(folder, file))
}

/**
 * The names of all algorithms, as their options have them.
 * @param {string} root
 * @returns {Set<string>}
 */
export function algorithmNames(root) {
  const files = filesIn(join(root, 'src/algorithms'), /options\.ts$/)
  const kinds = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/readonly kind: '(\w+)'\n/g)].map(([, kind]) => kind ?? ''),
  )
  return new Set(kinds)
}

/**
 * @param {string} root
 * @returns {string[]} a line for each check of a kind
 */
export function findAll(root) {
  const names = algorithmNames(root)
  const files = [
    ...filesIn(join(root, 'src'), /\.tsx?$/).map((file) => ({ file, isRust: false })),
    ...filesIn(join(root, 'crates'), /src[\\/].*\.rs$/).map((file) => ({ file, isRust: true })),
  ]
  return files.flatMap(({ file, isRust }) => {
    const path = relative(root, file).split(sep).join('/')
    if (path === TRAIT)
      return usedByTrait(readFileSync(file, 'utf8'), names).map(
        ({ line, what }) => `${path}:${line}: ${what}`,
      )
    if (isOwn(path)) return []
    const others = new Set(names)
    for (const { under, name } of OTHER_MEANINGS) if (path.startsWith(under)) others.delete(name)
    const mayImport = USERS.some(({ from }) => from === path)
    return kindChecks(readFileSync(file, 'utf8'), others, isRust)
      .filter(({ what }) => !mayImport || !what.startsWith('import from '))
      .map(({ line, what }) => `${path}:${line}: ${what}`)
  })
}

// Whether a file is an algorithm's own, or lists them all.
function isOwn(/** @type {string} */ path) {
  return (
    path.startsWith('crates/core/src/algorithms/') || /^src\/algorithms\/([\w-]+\/|registry\.ts$)/.test(path)
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = findAll(join(fileURLToPath(import.meta.url), '../..'))
  for (const line of found) console.error(line)
  if (found.length > 0) {
    console.error(
      `${found.length} checks of an algorithm's kind outside src/algorithms and crates/core/src/algorithms`,
    )
    process.exitCode = 1
  }
}
