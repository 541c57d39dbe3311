import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { locked } from '../lock.mjs'
import { browserFolders } from '../pages.mjs'
import { bin, run } from '../process.mjs'
import { filesUnder, fingerprint, once } from '../stamp.mjs'
import { load, tools } from './tools.mjs'

/** Apart from dist/, whose declarations have all that the tests of parts need. */
export const PARTS = 'target/api/parts'
const PUBLISHED = 'target/api/declarations'

/**
 * The declarations as they are published: what the entry points export and what that needs, without what is marked
 * `@internal`. A file for each entry point, at its place in dist/, and a few that these share. Made anew when src/ has
 * changed.
 * @param {string} root a clone with its packages installed
 * @returns {Promise<string>} the folder that stands for dist/
 */
export async function declarations(root) {
  const files = filesUnder(root, ['src']).filter(
    (file) => !browserFolders.some((folder) => file.startsWith(`${folder}/`)),
  )
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/typescript/package.json'), 'utf8'))
  const folder = await tools(root)
  mkdirSync(join(root, 'target/api'), { recursive: true })
  const state = await locked(join(root, 'target/api/.lock'), () =>
    once({
      root,
      stamp: `${PUBLISHED}/.built.json`,
      inputs: fingerprint(
        root,
        ['tsconfig.json', 'package.json', '.ci/api/declarations.mjs', '.ci/api/package-lock.json', ...files],
        version,
      ),
      async make() {
        for (const place of [PARTS, PUBLISHED]) rmSync(join(root, place), { recursive: true, force: true })
        if (!(await emit(root))) return undefined
        await bundle(root, folder)
        const made = filesUnder(root, [PUBLISHED])
        const optional = optionalPackages(root)
        for (const file of made) {
          const text = readFileSync(join(root, file), 'utf8')
          const isMain = file === `${PUBLISHED}/index.d.ts`
          writeFileSync(join(root, file), (isMain ? LIBRARY : '') + withoutNeed(text, optional))
        }
        return made
      },
    }),
  )
  if (state === 'failed') throw new Error('tsc failed: the declarations of src/ could not be written')
  return join(root, PUBLISHED)
}

/** For `Symbol.dispose`, which programs need not have otherwise. */
const LIBRARY = '/// <reference lib="esnext.disposable" />\n'

/**
 * A declaration for each file of src/.
 * @param {string} root
 */
async function emit(root) {
  const { code, output } = await run(
    process.execPath,
    [
      ...[bin(root, 'typescript', 'tsc'), '-p', 'src', '--outDir', PARTS, '--emitDeclarationOnly'],
      // Compiling dist/ checks the types; here they are written alone.
      ...['--stripInternal', '--noCheck', '--incremental', 'false', '--tsBuildInfoFile', 'null'],
    ],
    { cwd: root, quiet: true },
  )
  if (code === 0 && existsSync(join(root, PARTS, 'index.d.ts'))) return true
  console.error(output)
  return false
}

/**
 * Takes what the entry points need out of them.
 * @param {string} root
 * @param {string} folder where the tools are
 */
async function bundle(root, folder) {
  const { rollup } = await load(folder, 'rollup')
  const { dts } = await load(folder, 'rollup-plugin-dts')
  const bundled = await rollup({
    input: Object.fromEntries(
      [...entryPoints(root).values()].map((file) => [file.replace(/\.d\.ts$/, ''), join(root, PARTS, file)]),
    ),
    plugins: [dts()],
    external: (/** @type {string} */ id) => !/^[./]/.test(id) && !id.startsWith(root),
  })
  await bundled.write({
    dir: join(root, PUBLISHED),
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: (/** @type {{ name: string }} */ { name }) => `${name.replace(/\.d$/, '')}.d.ts`,
    minifyInternalExports: false,
    // All in the main entry point's file, but what only integrations need: their packages need not be installed.
    manualChunks: (/** @type {string} */ id) =>
      id.includes('/integrations/') || id.endsWith('/optional-package.d.ts') ? undefined : 'types',
    // Else what the main entry point imports is imported by the others too.
    hoistTransitiveImports: false,
  })
  await bundled.close()
}

/**
 * The packages that users may not have: the peers, which are optional.
 * @param {string} root
 * @returns {string[]}
 */
function optionalPackages(root) {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.keys(peerDependencies)
}

/**
 * Makes a declaration pass where types that it refers to are not installed, those of Node.js or of a peer: they are
 * `any` then. Else a program that checks its libraries would need all peers.
 * @param {string} text
 * @param {readonly string[]} packages
 */
export function withoutNeed(text, packages) {
  return text
    .split('\n')
    .map((line) => {
      const name = /^import .*["']([^"']+)["'];?$/.exec(line)?.[1]
      const isOptional = name !== undefined && (name.startsWith('node:') || packages.includes(name))
      return isOptional ? `// @ts-ignore\n${line}` : line
    })
    .join('\n')
}

/**
 * The entry points of the package by name, `idlest` and those below it, and the declarations of each.
 * @param {string} root
 * @returns {Map<string, string>} paths relative to dist/
 */
export function entryPoints(root) {
  /** @type {{ name: string, exports: Record<string, string | { types: string }> }} */
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  /** @type {Map<string, string>} */
  const entries = new Map()
  for (const [path, entry] of Object.entries(exports)) {
    if (typeof entry === 'string') continue
    entries.set(`${name}${path.slice(1)}`, entry.types.replace(/^\.\/dist\//, ''))
  }
  return entries
}
