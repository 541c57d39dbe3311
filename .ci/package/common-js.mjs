import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * What CommonJS programs load: Node.js itself lets them require ECMAScript modules, so each file hands on the one module
 * that importers have too, and there are no two copies of a balancer's state. The files are there for TypeScript, which
 * under `module: node16` refuses to require a module (TS1479), and takes the word of a declaration that is CommonJS
 * itself. It tells types with `resolution-mode`, and values one by one: a declaration that is CommonJS may take no more
 * than types from a module.
 * @param {string} root
 * @param {import('./manifests.mjs').MainManifest} manifest
 * @returns {Promise<Map<string, string>>} texts by paths
 */
export async function commonJs(root, { exports }) {
  /** @type {Map<string, string>} */
  const files = new Map()
  for (const entry of Object.values(exports)) {
    if (typeof entry === 'string' || entry.require === undefined) continue
    const module = /** @type {Record<string, unknown>} */ (
      await import(pathToFileURL(join(root, entry.default)).href)
    )
    const file = `./${posix.basename(entry.default)}`
    files.set(posix.normalize(entry.require.default), `'use strict'\nmodule.exports = require('${file}')\n`)
    files.set(posix.normalize(entry.require.types), declaration(file, module))
  }
  return files
}

/**
 * @param {string} file
 * @param {Record<string, unknown>} module
 */
function declaration(file, module) {
  const lines = [
    `import type * as module from '${file}' with { 'resolution-mode': 'import' }`,
    `export type * from '${file}' with { 'resolution-mode': 'import' }`,
  ]
  for (const [name, value] of Object.entries(module)) {
    lines.push(`export declare const ${name}: typeof module.${name}`)
    // The name of a class is a type as well, which the line above hides.
    if (isClass(value)) lines.push(`export type ${name} = module.${name}`)
  }
  return `${lines.join('\n')}\n`
}

/** @param {unknown} value */
function isClass(value) {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}
