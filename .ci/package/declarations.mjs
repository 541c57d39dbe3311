import { readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'

/**
 * The modules that a declaration refers to: `from './x.js'`, `import('./x.js')`, `import './x.js'`.
 * @param {string} text
 */
export function referencesOf(text) {
  // Not in comments, where examples import too.
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  return [...code.matchAll(/(?:\bfrom|(?<!['"])\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
    ([, name = '']) => name,
  )
}

/**
 * The declaration that is meant by what another one imports.
 * @param {string} file
 * @param {string} name
 */
export function declarationOf(file, name) {
  return posix.join(dirname(file), name).replace(/\.js$/, '.d.ts')
}

/**
 * The declarations that a package's users can reach: those of its exports, and what these refer to.
 * @param {string} root
 * @param {import('./manifests.mjs').MainManifest} manifest
 * @returns {Promise<string[]>} sorted
 */
export async function reachableDeclarations(root, { exports }) {
  const open = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [posix.normalize(entry.types)],
  )
  const seen = new Set(open)
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const text = await readFile(join(root, file), 'utf8')
    for (const name of referencesOf(text).filter((path) => path.startsWith('.'))) {
      const other = declarationOf(file, name)
      if (seen.has(other)) continue
      seen.add(other)
      open.push(other)
    }
  }
  return [...seen].sort()
}
