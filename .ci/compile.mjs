import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { browserFolders } from './pages.mjs'
import { bin, run } from './process.mjs'
import { terminal } from './progress.mjs'
import { filesUnder, fingerprint, once } from './stamp.mjs'

const suffixes = ['.js', '.js.map', '.d.ts']

/**
 * Compiles src/ to dist/, unless dist/ is what comes of it.
 * @param {string} root
 * @param {{ packages?: string, report?: typeof terminal }} [options] `packages`: the folder whose node_modules
 * has TypeScript
 */
export function compile(root, { packages = root, report = terminal } = {}) {
  const files = filesUnder(root, ['src']).filter(
    (file) => !browserFolders.some((folder) => file.startsWith(`${folder}/`)),
  )
  const outputs = files.filter(isSource).flatMap((file) => {
    const stem = file.replace(/^src\//, 'dist/').replace(/\.ts$/, '')
    return suffixes.map((suffix) => stem + suffix)
  })
  const typescript = readFileSync(join(packages, 'node_modules/typescript/package.json'), 'utf8')
  return once({
    root,
    stamp: 'dist/.built.json',
    inputs: fingerprint(root, ['tsconfig.json', ...files], JSON.parse(typescript).version),
    async make() {
      // tsc itself writes again only what it believes has changed.
      if (!outputs.every((file) => existsSync(join(root, file))))
        rmSync(join(root, 'dist/.tsbuildinfo'), { force: true })
      for (const file of leftovers(root, outputs)) rmSync(join(root, file))
      const { code, output } = await report.progress('compiling', () =>
        run(process.execPath, [bin(packages, 'typescript', 'tsc'), '-p', 'src'], { cwd: root, quiet: true }),
      )
      if (code !== 0) {
        report.error(`${output}tsc failed: src/ does not compile.`)
        return undefined
      }
      const cli = join(root, 'dist/cli/main.js')
      if (existsSync(cli)) chmodSync(cli, 0o755)
      return outputs
    },
  })
}

/** @param {string} file */
function isSource(file) {
  return file.endsWith('.ts') && !file.endsWith('.d.ts')
}

/**
 * What tsc made of sources that are gone.
 * @param {string} root
 * @param {string[]} outputs
 */
function leftovers(root, outputs) {
  const expected = new Set(outputs)
  return filesUnder(root, ['dist'], ['native', 'pages']).filter(
    (file) => suffixes.some((suffix) => file.endsWith(suffix)) && !expected.has(file),
  )
}
