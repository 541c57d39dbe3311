import { readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'

/**
 * The modules that a package needs, without comments, which are in the declarations. Nothing else is left out: an uncaught
 * error is shown with the line that threw it, and a debugger shows readable code without a source map. Files stay too, one
 * for each module, so that a module finds what lies beside it (`new URL('./polling-thread.js', import.meta.url)`).
 * @param {string} root
 * @param {import('./manifests.mjs').MainManifest} manifest
 * @returns {Promise<Map<string, string>>} texts by paths
 */
export async function publishedModules(root, manifest) {
  // Not at the top: what runs before the packages are installed imports files of this folder.
  const { transform } = await import('esbuild')
  const made = await Promise.all(
    (await reachable(root, entriesOf(manifest))).map(async (file) => {
      /** @type {import('esbuild').TransformOptions} */
      const options = { target: 'es2022', charset: 'utf8', legalComments: 'none', sourcefile: file }
      const source = await readFile(join(root, file), 'utf8')
      // esbuild drops the comments between members of a class with the spaces alone. The second pass puts these back.
      const compact = await transform(source, { ...options, minifyWhitespace: true })
      const { code } = await transform(compact.code, options)
      return /** @type {const} */ ([file, code])
    }),
  )
  return new Map(made)
}

/**
 * The modules that a package is entered by.
 * @param {import('./manifests.mjs').MainManifest} manifest
 */
function entriesOf({ exports, bin }) {
  const exported = Object.values(exports).map((entry) => (typeof entry === 'string' ? entry : entry.default))
  const modules = [...exported, ...Object.values(bin)].filter((path) => path.endsWith('.js'))
  return modules.map((path) => posix.normalize(path))
}

/**
 * Modules, those that they import and so on, and what each of them imports. Packages are not looked into.
 * @param {string} folder
 * @param {string[]} modules
 * @returns {Promise<import('esbuild').Metafile['inputs']>} by paths
 * @throws where a module that is imported is not there
 */
export async function moduleGraph(folder, modules) {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: modules.map((path, at) => ({ in: `./${path}`, out: `${at}` })),
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    splitting: true,
    packages: 'external',
    logLevel: 'silent',
  })
  return metafile.inputs
}

/** A file that a module starts or reads by its place beside it. */
const beside = /new URL\(\s*['"](\.{1,2}\/[^'"]+\.js)['"],\s*import\.meta\.url,?\s*\)/g

/**
 * The modules that some import, and those that they start.
 * @param {string} root
 * @param {string[]} entries
 * @returns {Promise<string[]>} sorted
 */
async function reachable(root, entries) {
  const files = Object.keys(await moduleGraph(root, entries))
  const started = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join(root, file), 'utf8')
      return [...source.matchAll(beside)].map(([, path = '']) => posix.join(dirname(file), path))
    }),
  )
  const more = started.flat().filter((file) => !files.includes(file))
  return more.length === 0 ? files.sort() : reachable(root, [...new Set([...entries, ...more])])
}
