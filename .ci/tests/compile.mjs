// Tests run as JavaScript that is compiled once: a loader that compiles them as they are imported also slows every other
// import, and takes three quarters of the time that a test file needs to start.
import { existsSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesUnder, fingerprint, once } from '../stamp.mjs'

/** Where test/ and bench/ are compiled to. */
const OUT = 'target/tests'

/**
 * Compiles the tests and the benchmarks that they use to target/tests/, unless that is up to date. Only the programs move:
 * `import.meta.url` still names the source, so that data and programs beside it are found.
 * @param {string} root
 */
export async function compileTests(root) {
  const files = filesUnder(root, ['test', 'bench'], ['node_modules', 'results'])
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  const { build, version } = await import('esbuild')
  return once({
    root,
    stamp: `${OUT}/.built.json`,
    inputs: fingerprint(root, sources, version),
    async make() {
      rmSync(join(root, OUT), { recursive: true, force: true })
      await Promise.all(
        sources.map((file) =>
          build({
            absWorkingDir: root,
            entryPoints: [file],
            outfile: compiledPath(file),
            bundle: true,
            format: 'esm',
            platform: 'node',
            target: 'node20',
            sourcemap: true,
            define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, file)).href) },
            plugins: [importsIn(root, file)],
          }),
        ),
      )
      return sources.map(compiledPath)
    },
  })
}

/**
 * The compiled file of a test, or of a pattern of tests; others stay as they are.
 * @param {string} file relative to the root
 */
export function compiledPath(file) {
  return /^(test|bench)\//.test(file) ? `${OUT}/${file.replace(/\.ts$/, '.js')}` : file
}

/**
 * The source of a compiled test.
 * @param {string} file
 */
export function sourcePath(file) {
  const [before, after] = file.replaceAll(sep, '/').split(`${OUT}/`)
  return after === undefined ? file : `${before}${after.replace(/\.js$/, '.ts')}`
}

/**
 * Imports of compiled files stay as they are; those of anything else have a longer way.
 * @param {string} root
 * @param {string} file
 * @returns {import('esbuild').Plugin}
 */
function importsIn(root, file) {
  const from = join(root, dirname(compiledPath(file)))
  return {
    name: 'imports',
    setup({ onResolve }) {
      onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
        if (kind === 'entry-point') return undefined
        if (!path.startsWith('.')) return { path, external: true }
        const target = resolve(resolveDir, path)
        if (existsSync(target.replace(/\.js$/, '.ts')) && target.endsWith('.js'))
          return { path, external: true }
        return { path: relative(from, target).replaceAll(sep, '/'), external: true }
      })
    },
  }
}
