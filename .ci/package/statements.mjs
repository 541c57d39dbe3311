import { dirname, posix } from 'node:path'

/**
 * A statement of a declaration file.
 * @typedef {object} Statement
 * @property {string} text with the comment before it
 * @property {string} code without comments
 * @property {'import' | 'export' | 'declaration' | 'other'} kind `export`: one that hands names on
 * @property {string} name that it declares; empty where it declares none
 * @property {string} from what it takes its names from; empty where it takes none
 * @property {Specifier[] | undefined} specifiers the names; undefined where it takes all
 */

/** @typedef {{ text: string, theirs: string, ours: string }} Specifier */

/** TypeScript begins each statement with one of these, at the start of a line, after its comment. */
const beginning = /(?:^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^(?:import|export|declare|interface|type)\b/gm

const declared =
  /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|let|function|namespace|enum) ([\w$]+)/

/**
 * @param {string} text of a declaration file, as TypeScript writes it
 * @returns {Statement[]}
 */
export function statementsOf(text) {
  const places = [...text.matchAll(beginning)].map(({ index }) => index)
  return [0, ...places].map((place, at) => statementOf(text.slice(place, places[at]).trimEnd())).filter(isAny)
}

/** @param {Statement} statement */
function isAny({ text }) {
  return text !== ''
}

/**
 * @param {string} text
 * @returns {Statement}
 */
function statementOf(text) {
  const code = withoutComments(text).trim()
  const from = /\bfrom ['"]([^'"]+)['"]/.exec(code)?.[1] ?? ''
  if (/^import\b/.test(code))
    return { text, code, kind: 'import', name: '', from, specifiers: specifiersOf(code) }
  if (/^export (?:type )?[{*]/.test(code) && code !== 'export {};') {
    return { text, code, kind: 'export', name: '', from, specifiers: specifiersOf(code) }
  }
  const name = declared.exec(code)?.[1] ?? ''
  return { text, code, kind: name === '' ? 'other' : 'declaration', name, from: '', specifiers: undefined }
}

/**
 * @param {string} code
 * @returns {Specifier[] | undefined}
 */
function specifiersOf(code) {
  const inside = /\{([^}]*)\}/.exec(code)?.[1]
  return inside
    ?.split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const [theirs = '', ours = theirs] = text.replace(/^type /, '').split(' as ')
      return { text, theirs, ours }
    })
}

/**
 * The modules that a declaration refers to: `from './x.js'`, `import('./x.js')`, `import './x.js'`.
 * @param {string} text
 */
export function referencesOf(text) {
  const names = withoutComments(text).matchAll(/(?:\bfrom|(?<!['"])\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)
  return [...names].map(([, name = '']) => name)
}

/**
 * Examples in comments name things too.
 * @param {string} text
 */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '')
}

/**
 * The declaration file that is meant by what another one imports.
 * @param {string} file
 * @param {string} name
 */
export function declarationOf(file, name) {
  return posix.join(dirname(file), name).replace(/\.js$/, '.d.ts')
}
