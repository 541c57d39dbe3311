// Tests run as JavaScript that is compiled once. A loader that compiles them as they are imported slows every other import
// too, and takes three quarters of the time that a test file needs to start.
import { existsSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesUnder, fingerprint, once } from '../stamp.mjs'

/** Where test/ and bench/ are compiled to. */
export const COMPILED = 'target/tests'

/**
 * Compiles the tests and the benchmarks that they use to target/tests/, unless that is up to date. Only the programs move:
 * `import.meta.url` still names the source, so that tests find the data and programs beside it.
 * @param {string} root
 * @param {{ quiet?: boolean }} [options] `quiet`: prints no errors
 */
export async function compileTests(root, { quiet = false } = {}) {
  const sources = filesUnder(root, ['test', 'bench'], ['node_modules', 'results']).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.d.ts'),
  )
  const outputs = sources.map(compiledPath)
  const { build, version } = await import('esbuild')
  return once({
    root,
    stamp: `${COMPILED}/.built.json`,
    inputs: fingerprint(root, sources, version),
    async make() {
      // ava would still run the tests of sources that are gone.
      const expected = new Set(outputs.flatMap((file) => [file, `${file}.map`]))
      for (const file of filesUnder(root, [COMPILED])) if (!expected.has(file)) rmSync(join(root, file))
      const builds = sources.map((file) =>
        build({
          absWorkingDir: root,
          entryPoints: [file],
          outfile: compiledPath(file),
          bundle: true,
          format: 'esm',
          platform: 'node',
          target: 'node20',
          sourcemap: true,
          logLevel: quiet ? 'silent' : 'warning',
          define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, file)).href) },
          plugins: [importsIn(root, file)],
        }),
      )
      // esbuild has printed why one failed.
      const results = await Promise.allSettled(builds)
      return results.every(({ status }) => status === 'fulfilled') ? outputs : undefined
    },
  })
}

/**
 * The compiled file of a test, or of a pattern of tests; others stay as they are.
 * @param {string} file relative to the root
 */
export function compiledPath(file) {
  return /^(test|bench)\//.test(file) ? `${COMPILED}/${file.replace(/\.ts$/, '.js')}` : file
}

/**
 * The source of a compiled test.
 * @param {string} file
 */
export function sourcePath(file) {
  const [before, after] = file.replaceAll(sep, '/').split(`${COMPILED}/`)
  return after === undefined ? file : `${before}${after.replace(/\.js$/, '.ts')}`
}

/**
 * Keeps every import external. Compiled files keep their places relative to each other; the path to any other file changes.
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
        if (target.endsWith('.js') && existsSync(target.replace(/\.js$/, '.ts')))
          return { path, external: true }
        return { path: relative(from, target).replaceAll(sep, '/'), external: true }
      })
    },
  }
}
