import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { bin, run } from '../process.mjs'

/** The package of the pages. */
const PAGES = '@idlest/pages'

/** @typedef {Record<string, unknown> & { name: string, main: string, version: string }} BindingManifest */

/**
 * @typedef {object} MainManifest
 * @property {string} name
 * @property {string} version
 * @property {Record<string, string | Entry>} exports
 * @property {Record<string, string>} bin
 * @property {Record<string, string>} optionalDependencies
 */

/**
 * A clone's package.json.
 * @typedef {Record<string, unknown> & { name: string, version: string, exports: Record<string, string | Entry>,
 * bin: Record<string, string> }} Source
 */

/** @typedef {{ types: string, default: string, require?: { types: string, default: string } }} Entry */

/** What every package takes from the clone's package.json. */
const shared = ['license', 'author', 'homepage', 'bugs', 'repository', 'engines']

/** What the main package takes beside that. */
const ofMain = [
  ...['description', 'type', 'main', 'types', 'sideEffects', 'keywords'],
  ...['dependencies', 'peerDependencies', 'peerDependenciesMeta'],
]

/** npm takes packages with a scope for private ones unless told. */
const publishConfig = { access: 'public' }

/**
 * @param {Record<string, unknown>} source
 * @param {string[]} names
 */
function taken(source, names) {
  return Object.fromEntries(
    names.filter((name) => source[name] !== undefined).map((name) => [name, source[name]]),
  )
}

/**
 * The package.json of each target's package. napi-rs knows what `os`, `cpu` and `libc` npm has for a target, so its
 * `create-npm-dirs` says it. Its `artifacts` and `pre-publish` are not used: the one wants the addons of all targets at
 * once and puts them into the clone too, the other publishes by itself, from a clone whose package.json it rewrites. Here
 * the clone stays as it is, one machine can stage what it has built, and what is published are the very tarballs that
 * were checked.
 * @param {string} root
 * @param {Source} source the clone's package.json
 * @returns {Promise<BindingManifest[]>}
 */
export async function bindingManifests(root, source) {
  const cwd = await mkdtemp(join(tmpdir(), 'idlest-targets-'))
  try {
    await writeFile(join(cwd, 'package.json'), JSON.stringify(source))
    const napi = bin(root, '@napi-rs/cli', 'napi')
    const { code, output } = await run(process.execPath, [napi, 'create-npm-dirs', '--cwd', cwd], {
      quiet: true,
    })
    if (code !== 0) throw new Error(`${output}napi create-npm-dirs failed`)
    const names = await readdir(join(cwd, 'npm'))
    return await Promise.all(
      names.sort().map(async (name) => {
        const made = JSON.parse(await readFile(join(cwd, 'npm', name, 'package.json'), 'utf8'))
        const { keywords: _, ...manifest } = made
        return {
          ...manifest,
          ...taken(source, shared),
          publishConfig,
          type: 'commonjs',
          description: `The native engine of idlest for ${name}.`,
        }
      }),
    )
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/**
 * @param {Source} source the clone's package.json
 */
export function pagesManifest(source) {
  return {
    name: PAGES,
    version: source.version,
    description: 'The pages of idlest: of its scene, its live view and its reports.',
    ...taken(source, shared),
    type: 'commonjs',
    exports: { './*': './*' },
    publishConfig,
  }
}

/**
 * The main package's package.json, and the files that it names outside of `dist`: CommonJS programs are given files of
 * their own (`commonJs`), and what lies in `src` of a clone is at the top.
 * @param {Source} source the clone's package.json
 * @param {string[]} optional names of the packages that come with it where they fit, of its own version
 */
export function mainManifest(source, optional) {
  /** @type {{ from: string, to: string }[]} */
  const copies = []
  const entries = Object.entries(source.exports).map(([path, entry]) => {
    if (typeof entry !== 'string') {
      const require = {
        types: entry.types.replace(/\.ts$/, '.cts'),
        default: entry.default.replace(/\.js$/, '.cjs'),
      }
      return [path, { require, ...entry }]
    }
    if (!entry.startsWith('./src/')) return [path, entry]
    const name = basename(entry)
    copies.push({ from: entry, to: name })
    return [path, `./${name}`]
  })
  const manifest = {
    name: source.name,
    version: source.version,
    bin: source.bin,
    ...taken(source, ofMain),
    ...taken(source, shared),
    exports: Object.fromEntries(entries),
    files: ['dist', 'CHANGELOG.md', ...copies.map(({ to }) => to)],
    optionalDependencies: Object.fromEntries(optional.sort().map((name) => [name, source.version])),
    publishConfig,
  }
  return { manifest, copies }
}
