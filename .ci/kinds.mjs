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
]

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
 * Where a source asks which algorithm it is.
 * @param {string} source
 * @param {ReadonlySet<string>} names of algorithms
 * @param {boolean} isRust
 * @returns {{ line: number, what: string }[]}
 */
export function kindChecks(source, names, isRust = false) {
  const tokens = tokensOf(source, isRust)
  /** @type {{ line: number, what: string }[]} */
  const found = []
  for (const [i, { type, text, line }] of tokens.entries()) {
    if (type === 'string' && names.has(text)) {
      const how = isRust && tokens[i + 1]?.text === '=>' ? 'match' : comparisonOf(tokens, i)
      const isArm = isRust && (tokens[i + 1]?.text === '|' || tokens[i - 1]?.text === '|')
      if (how !== undefined || isArm) found.push({ line, what: `${how ?? 'match'} '${text}'` })
    }
    // Variants of an enum of algorithms.
    if (isRust && type === 'word' && names.has(text[0]?.toLowerCase() + text.slice(1))) {
      const isVariant =
        tokens[i - 1]?.text === ':' && tokens[i - 2]?.text === ':' && tokens[i - 3]?.text === 'Algorithm'
      if (isVariant) found.push({ line, what: `Algorithm::${text}` })
    }
  }
  return isRust ? found : [...found, ...collectionsOf(tokens, names)]
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
    if (path.startsWith('src/algorithms/') || path.startsWith('crates/core/src/algorithms/')) return []
    const others = new Set(names)
    for (const { under, name } of OTHER_MEANINGS) if (path.startsWith(under)) others.delete(name)
    return kindChecks(readFileSync(file, 'utf8'), others, isRust).map(
      ({ line, what }) => `${path}:${line}: ${what}`,
    )
  })
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
