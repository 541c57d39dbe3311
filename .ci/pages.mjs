// `node .ci/pages.mjs` builds the pages alone: packages must be installed.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { terminal } from './progress.mjs'
import { filesUnder, fingerprint, once } from './stamp.mjs'

/** Folders of what runs in a browser alone: esbuild bundles it, and tsc makes nothing of it. */
export const browserFolders = ['page', 'live', 'report', 'parts', 'browser'].map(
  (name) => `src/scene/${name}`,
)

const pages = [
  { name: 'scene', folder: 'page', alone: false },
  { name: 'live', folder: 'live', alone: false },
  // Script and style in the HTML.
  { name: 'report', folder: 'report', alone: true },
]

/** The pages and what belongs to them; not in dist/scene, whose files tsc answers for. */
const target = 'dist/pages'

/** Modules of src that need Node.js, each with a stand-in of the same file name in src/scene/browser. */
const replaced = ['src/engine/load', 'src/process-clock', 'src/warn']

/**
 * For esbuild: `node:some_thing` comes from src/scene/browser/some-thing.ts, and what is `replaced` from the file of that
 * name there. What has no stand-in is an error, so that no page needs Node by accident.
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function standIns(root) {
  const folder = join(root, 'src/scene/browser')
  return {
    name: 'stand-ins',
    setup(build) {
      build.onResolve({ filter: /^node:/ }, ({ path }) => {
        const file = join(folder, `${path.slice('node:'.length).replaceAll('_', '-')}.ts`)
        if (existsSync(file)) return { path: file }
        return { errors: [{ text: `${path} has no stand-in in src/scene/browser` }] }
      })
      build.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path, resolveDir }) => {
        const name = relative(root, join(resolveDir, path)).replaceAll('\\', '/').slice(0, -'.js'.length)
        return replaced.includes(name) ? { path: join(folder, `${basename(name)}.ts`) } : undefined
      })
    },
  }
}

/**
 * Bundles the pages to dist/pages, unless they are what comes of their sources.
 * @param {string} root
 * @param {{ report?: typeof terminal }} [options]
 */
export function buildPages(root, { report = terminal } = {}) {
  const versions = ['esbuild', 'preact', 'uplot'].map(
    (name) => JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version,
  )
  return once({
    root,
    stamp: `${target}/.built.json`,
    inputs: fingerprint(root, ['.ci/pages.mjs', 'tsconfig.json', ...filesUnder(root, ['src'])], versions),
    async make() {
      rmSync(join(root, target), { recursive: true, force: true })
      mkdirSync(join(root, target), { recursive: true })
      try {
        return await report.progress('bundling the pages', () => bundle(root))
      } catch (error) {
        report.error(
          `${error instanceof Error ? error.message : error}\nesbuild failed: the pages are not built.`,
        )
        return undefined
      }
    },
  })
}

/** @param {string} root */
async function bundle(root) {
  // Not at the top: what runs before the packages are installed imports this file too.
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: pages.map(({ name, folder }) => ({ in: `src/scene/${folder}/main.tsx`, out: name })),
    outdir: target,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
    tsconfig: 'src/scene/tsconfig.json',
    plugins: [standIns(root)],
  })
  const bundled = new Map(outputFiles.map(({ path, text }) => [relative(join(root, target), path), text]))
  const licenses = licensesOf(root, Object.keys(metafile.inputs))
  /** @type {Map<string, string>} */
  const files = new Map([
    ['icon.svg', readFileSync(join(root, 'src/scene/parts/icon.svg'), 'utf8')],
    ['licenses.txt', licenses],
  ])
  for (const { name, folder, alone } of pages) {
    const html = readFileSync(join(root, `src/scene/${folder}/index.html`), 'utf8')
    const script = bundled.get(`${name}.js`) ?? ''
    const style = bundled.get(`${name}.css`) ?? ''
    if (alone) {
      files.set(`${name}.html`, inOneFile(html, { name, script, style, licenses }))
    } else {
      files.set(`${name}.html`, html).set(`${name}.js`, script).set(`${name}.css`, style)
    }
  }
  for (const [name, text] of files) writeFileSync(join(root, target, name), text)
  return [...files.keys()].map((name) => `${target}/${name}`)
}

/**
 * A page that can be kept or sent as one file.
 * @param {string} html
 * @param {{ name: string, script: string, style: string, licenses: string }} parts esbuild has escaped in them what
 * would end their elements
 */
function inOneFile(html, { name, script, style, licenses }) {
  const parts = [
    [`<link rel="stylesheet" href="${name}.css">`, `<style>${style}</style>`],
    [`<script type="module" src="${name}.js"></script>`, `<script type="module">${script}</script>`],
    ['</html>', `</html>\n<!--\n${licenses}-->`],
  ]
  return parts.reduce((text, [place = '', part = '']) => {
    if (!text.includes(place)) throw new Error(`${name}: its HTML has no ${place}`)
    // By function: `$` in a script means nothing.
    return text.replace(place, () => part)
  }, html)
}

/**
 * The licenses of the packages that are bundled, which they ask to be handed on.
 * @param {string} root
 * @param {string[]} inputs
 */
function licensesOf(root, inputs) {
  const packages = new Set(
    inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  )
  return [...packages]
    .sort()
    .map((name) => `${name}\n\n${licenseOf(join(root, 'node_modules', name)).trim()}\n`)
    .join('\n')
}

/**
 * A package's license; its name alone where the package brings no text.
 * @param {string} folder
 * @returns {string}
 */
function licenseOf(folder) {
  // LICENSE, LICENSE.md, license.txt…
  const file = readdirSync(folder).find((name) => /^licen[cs]e\b/i.test(name))
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8')
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).license
}

const self = fileURLToPath(import.meta.url)
if (argv[1] === self && (await buildPages(join(self, '../..'))) === 'failed') process.exitCode = 1
