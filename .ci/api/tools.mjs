import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installApart } from '../install.mjs'

/**
 * Installs what makes the reference and the report, unless it is installed.
 * @param {string} root
 * @returns {Promise<string>} the folder that they are installed in
 */
export function tools(root) {
  return installApart(root, '.ci/api', 'api-tools')
}

/**
 * Imports one of them.
 * @param {string} folder what `tools` gave
 * @param {string} name
 */
export function load(folder, name) {
  const path = createRequire(join(folder, 'package.json')).resolve(name)
  return import(pathToFileURL(path).href)
}
