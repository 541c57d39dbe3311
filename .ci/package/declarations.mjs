import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'

/** What a declaration refers to: `from './x.js'`, `import('./x.js')`, `import './x.js'`. */
const references = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)\.js['"]/g

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
    for (const [, path = ''] of text.matchAll(references)) {
      const other = `${posix.join(dirname(file), path)}.d.ts`
      if (seen.has(other)) continue
      // An example in a comment may name a file of its own.
      if (!existsSync(join(root, other))) continue
      seen.add(other)
      open.push(other)
    }
  }
  return [...seen].sort()
}
