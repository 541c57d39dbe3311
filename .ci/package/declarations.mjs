import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { declarationOf, statementsOf } from './statements.mjs'

/** @typedef {import('./statements.mjs').Statement} Statement */

/**
 * The declarations that a package's users can reach, file by file: those of its exports, and what these refer to. What
 * modules say to each other alone is left out, so that users see and download no more than they can use.
 * @param {string} root
 * @param {import('./manifests.mjs').MainManifest} manifest
 * @returns {Map<string, string>} texts by paths
 */
export function reachableDeclarations(root, { exports }) {
  const reach = new Reach(root)
  for (const entry of Object.values(exports)) {
    if (typeof entry !== 'string') reach.takeAll(posix.normalize(entry.types))
  }
  return reach.texts()
}

class Reach {
  /** @type {Map<string, { statements: Statement[], taken: Set<Statement>, names: Set<string> }>} */
  #files = new Map()
  #root

  /** @param {string} root */
  constructor(root) {
    this.#root = root
  }

  /**
   * Takes all that a file exports, and what that refers to.
   * @param {string} path
   */
  takeAll(path) {
    for (const { kind, name, from, specifiers } of this.#read(path).statements) {
      if (kind === 'declaration') this.#take(path, name)
      if (kind !== 'export') continue
      if (specifiers === undefined) this.takeAll(declarationOf(path, from))
      else for (const { ours } of specifiers) this.#take(path, ours)
    }
  }

  /** What is left of each file. */
  texts() {
    /** @type {Map<string, string>} */
    const texts = new Map()
    for (const [path, { statements, taken, names }] of this.#files) {
      const kept = statements.filter((statement) => taken.has(statement))
      const used = new Set([...names, ...kept.flatMap(({ code }) => identifiers(code))])
      const lines = statements.flatMap((statement) => {
        if (statement.kind === 'declaration') return taken.has(statement) ? [statement.text] : []
        return this.#narrowed(path, statement, statement.kind === 'import' ? used : names)
      })
      if (names.size > 0) texts.set(path, `${lines.join('\n')}\n`)
    }
    return texts
  }

  /**
   * An import or export of no more than is used.
   * @param {string} path
   * @param {Statement} statement
   * @param {Set<string>} used
   * @returns {string[]}
   */
  #narrowed(path, { kind, text, code, from, specifiers }, used) {
    if (kind === 'other') return [text]
    if (specifiers === undefined) {
      if (kind === 'import') return identifiers(code).some((name) => used.has(name)) ? [text] : []
      const there = this.#files.get(declarationOf(path, from))
      return there !== undefined && there.names.size > 0 ? [text] : []
    }
    const kept = specifiers.filter(({ ours }) => used.has(ours))
    if (kept.length === 0) return []
    if (kept.length === specifiers.length) return [text]
    return [code.replace(/\{[^}]*\}/, () => `{ ${kept.map((specifier) => specifier.text).join(', ')} }`)]
  }

  /**
   * Takes what a file knows by a name: its own, or what it has from another.
   * @param {string} path
   * @param {string} name
   * @returns {boolean} whether it knows it
   */
  #take(path, name) {
    const { statements, taken, names } = this.#read(path)
    if (names.has(name)) return true
    for (const statement of statements) {
      const { kind, from, specifiers = [] } = statement
      if (kind === 'declaration' && statement.name === name) {
        names.add(name)
        taken.add(statement)
        for (const other of identifiers(statement.code)) this.#take(path, other)
        for (const [, module = '', other = ''] of statement.code.matchAll(
          /\bimport\(['"](\.[^'"]+)['"]\)\.([\w$]+)/g,
        )) {
          this.#take(declarationOf(path, module), other)
        }
      }
      const specifier = specifiers.find(({ ours }) => ours === name)
      if (specifier === undefined) continue
      names.add(name)
      if (from.startsWith('.')) this.#take(declarationOf(path, from), specifier.theirs)
      else if (from === '') this.#take(path, specifier.theirs)
    }
    if (names.has(name)) return true
    const others = statements.filter(({ kind, specifiers }) => kind === 'export' && specifiers === undefined)
    if (others.some(({ from }) => this.#take(declarationOf(path, from), name))) names.add(name)
    return names.has(name)
  }

  /** @param {string} path */
  #read(path) {
    let file = this.#files.get(path)
    if (file === undefined) {
      const statements = statementsOf(readFileSync(join(this.#root, path), 'utf8'))
      file = { statements, taken: new Set(), names: new Set() }
      this.#files.set(path, file)
    }
    return file
  }
}

/**
 * @param {string} code
 * @returns {string[]}
 */
function identifiers(code) {
  return code.match(/[A-Za-z_$][\w$]*/g) ?? []
}
