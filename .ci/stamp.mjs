import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The files under some paths of a folder, sorted; a path that does not exist has none.
 * @param {string} root
 * @param {string[]} paths files and folders, relative to root
 * @param {string[]} [skip] names of folders to leave out
 * @returns {string[]} relative to root, with forward slashes
 */
export function filesUnder(root, paths, skip = []) {
  return paths
    .flatMap((path) => {
      const kind = statSync(join(root, path), { throwIfNoEntry: false })
      if (!kind?.isDirectory()) return kind ? [path] : []
      const inside = readdirSync(join(root, path)).filter((name) => !skip.includes(name))
      return filesUnder(
        root,
        inside.map((name) => `${path}/${name}`),
        skip,
      )
    })
    .sort()
}

/**
 * A hash of the names and contents of files, and of anything else that a result depends on.
 * @param {string} root
 * @param {string[]} files
 * @param {unknown} [other]
 */
export function fingerprint(root, files, other) {
  const hash = createHash('sha256').update(JSON.stringify(other ?? null))
  for (const file of files) {
    const content = readFileSync(join(root, file))
    hash.update(`\0${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/**
 * Does a piece of work unless its stamp says that it was done for the same inputs, and what came of it is
 * still there. The stamp is written last, so work that was cut short is done again.
 * @param {object} work
 * @param {string} work.root
 * @param {string} work.stamp path of the stamp, relative to root; best kept beside the outputs
 * @param {string} work.inputs the fingerprint of the inputs
 * @param {() => Promise<string[] | undefined>} work.make makes the outputs and returns their paths, relative to
 * root; `undefined` where it failed
 * @returns {Promise<'fresh' | 'made' | 'failed'>}
 */
export async function once({ root, stamp, inputs, make }) {
  const path = join(root, stamp)
  const last = readStamp(path)
  if (last?.inputs === inputs && last.outputs.every((file) => existsSync(join(root, file)))) return 'fresh'
  rmSync(path, { force: true })
  const outputs = await make()
  if (!outputs) return 'failed'
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ inputs, outputs }))
  renameSync(draft, path)
  return 'made'
}

/**
 * @param {string} path
 * @returns {{ inputs: string, outputs: string[] } | undefined}
 */
function readStamp(path) {
  try {
    const stamp = JSON.parse(readFileSync(path, 'utf8'))
    return Array.isArray(stamp.outputs) ? stamp : undefined
  } catch {
    return undefined
  }
}
