import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { moduleGraph } from './javascript.mjs'

/**
 * What a package names and does not have: files of its package.json, and what its modules and declarations import.
 * @param {string} folder
 * @param {Record<string, any>} manifest
 * @param {string[]} files
 * @returns {Promise<string[]>}
 */
export async function brokenReferences(folder, manifest, files) {
  return [
    ...brokenPaths(folder, manifest),
    ...(await brokenImports(folder, manifest, files)),
    ...(await brokenDeclarations(folder, manifest, files)),
  ]
}

/**
 * @param {string} folder
 * @param {Record<string, any>} manifest
 */
function brokenPaths(folder, manifest) {
  const bins = Object.values(manifest.bin ?? {})
  const named = [
    manifest.main,
    manifest.types,
    ...bins,
    ...targets(manifest.exports),
    ...(manifest.sideEffects ?? []),
  ]
  const problems = named
    .filter((path) => path !== undefined && !path.includes('*') && !existsSync(join(folder, path)))
    .map((path) => `its package.json names ${path}, which is not there`)
  // Windows knows no such mode.
  if (process.platform === 'win32') return problems
  for (const path of bins) {
    const mode = statSync(join(folder, path), { throwIfNoEntry: false })?.mode ?? 0o111
    if ((mode & 0o111) === 0) problems.push(`${path} can't be executed`)
  }
  return problems
}

/**
 * The paths under `exports`, at any depth.
 * @param {unknown} exports
 * @returns {string[]}
 */
function targets(exports) {
  if (typeof exports === 'string') return [exports]
  return typeof exports === 'object' && exports !== null ? Object.values(exports).flatMap(targets) : []
}

/**
 * @param {string} folder
 * @param {Record<string, any>} manifest
 * @param {string[]} files
 */
async function brokenImports(folder, manifest, files) {
  // What a page loads is bundled: it imports nothing.
  const modules = files.filter((path) => /^dist\/.*\.c?js$/.test(path))
  if (modules.length === 0) return []
  try {
    const graph = await moduleGraph(folder, modules)
    return Object.entries(graph).flatMap(([path, { imports }]) =>
      imports.filter(({ external }) => external).flatMap((other) => undeclared(manifest, path, other.path)),
    )
  } catch (error) {
    // A file that is not there.
    return [String(error instanceof Error ? error.message : error)]
  }
}

/**
 * @param {string} folder
 * @param {Record<string, any>} manifest
 * @param {string[]} files
 */
async function brokenDeclarations(folder, manifest, files) {
  const declarations = files.filter((path) => /\.d\.c?ts$/.test(path))
  const problems = await Promise.all(
    declarations.map(async (path) => {
      const names = referencesOf(await readFile(join(folder, path), 'utf8'))
      return names.flatMap((name) => {
        if (!name.startsWith('.')) return undeclared(manifest, path, name)
        return files.includes(declarationOf(path, name))
          ? []
          : [`${path} imports ${name}, which is not there`]
      })
    }),
  )
  return problems.flat()
}

/**
 * @param {Record<string, any>} manifest
 * @param {string} path
 * @param {string} name
 */
function undeclared(manifest, path, name) {
  if (isBuiltin(name)) return []
  const [scope = '', rest] = name.split('/')
  const other = name.startsWith('@') ? `${scope}/${rest}` : scope
  const declared = [manifest.dependencies, manifest.peerDependencies].some(
    (all) => all?.[other] !== undefined,
  )
  return declared ? [] : [`${path} imports ${name}, which it does not depend on`]
}

/**
 * The modules that a declaration refers to: `from './x.js'`, `import('./x.js')`, `import './x.js'`.
 * @param {string} text
 */
function referencesOf(text) {
  // Not in comments, where examples import too.
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  const names = code.matchAll(/(?:\bfrom|(?<!['"])\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)
  return [...names].map(([, name = '']) => name)
}

/**
 * The declaration file that is meant by what another one imports.
 * @param {string} file
 * @param {string} name
 */
function declarationOf(file, name) {
  return posix.join(dirname(file), name).replace(/\.js$/, '.d.ts')
}
