import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { declarations } from '../api/declarations.mjs'
import { filesUnder } from '../stamp.mjs'
import { commonJs } from './common-js.mjs'
import { publishedModules } from './javascript.mjs'
import { bindingManifests, mainManifest, pagesManifest } from './manifests.mjs'

/**
 * @typedef {object} StageOptions
 * @property {string} [into] the folder to stage in; default `npm` of the clone
 * @property {string} [bindings] a folder that has the built addons, at any depth; default what this clone has built
 * @property {boolean} [all] makes it an error that an addon of a target is missing
 * @property {string} [repository] where the source is, which npm checks provenance against: `git+https://…`
 */

/** @typedef {{ name: string, folder: string }} Staged */

/** What the main package has beside `dist`. */
const documents = ['README.md', 'LICENSE', 'CHANGELOG.md']

/**
 * Puts together the packages that are published, from a clone that is built: `idlest`, `@idlest/pages` and a binding
 * for each target that there is an addon of.
 * @param {string} root
 * @param {StageOptions} [options]
 * @returns {Promise<Staged[]>} in the order to publish them in: `idlest` last, since it depends on the others
 */
export async function stage(root, { into = join(root, 'npm'), bindings, all = false, repository } = {}) {
  const found = addonsUnder(bindings ?? join(root, 'dist/native'))
  const source = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  if (repository !== undefined) source.repository = { type: 'git', url: repository }
  const targets = await bindingManifests(root, source)
  const missing = targets.filter(({ main }) => !found.has(main)).map(({ main }) => main)
  if (all && missing.length > 0) throw new Error(`no addon to publish for ${missing.join(', ')}`)
  // What is there beside them may be of others.
  for (const name of ['idlest', 'pages', ...targets.map(targetOf)]) {
    await rm(join(into, name), { recursive: true, force: true })
  }
  const context = { root, into, source }
  /** @type {Staged[]} */
  const staged = []
  for (const target of targets) {
    const addon = found.get(target.main)
    if (addon !== undefined) staged.push(await stageBinding(context, target, addon))
  }
  staged.push(await stagePages(context))
  const optional = [...targets.map(({ name }) => name), pagesManifest(source).name]
  staged.push(await stageMain(context, optional))
  return staged
}

/** @typedef {{ root: string, into: string, source: import('./manifests.mjs').Source }} Context */

/**
 * @param {string} folder
 * @returns {Map<string, string>} paths by file names
 */
function addonsUnder(folder) {
  /** @type {Map<string, string>} */
  const found = new Map()
  for (const file of filesUnder(folder, ['.']).filter((name) => name.endsWith('.node'))) {
    const name = basename(file)
    if (found.has(name)) throw new Error(`${name} stands twice under ${folder}: which is to be published?`)
    found.set(name, join(folder, file))
  }
  return found
}

/** @param {import('./manifests.mjs').BindingManifest} manifest */
function targetOf({ name }) {
  return name.replace('@idlest/binding-', '')
}

/**
 * @param {Context} context
 * @param {import('./manifests.mjs').BindingManifest} manifest
 * @param {string} addon
 */
async function stageBinding({ root, into }, manifest, addon) {
  const folder = join(into, targetOf(manifest))
  await writePackage(folder, manifest)
  await copy(addon, join(folder, manifest.main))
  await copy(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const readme = [
    `# ${manifest.name}`,
    manifest.description,
    'npm installs it beside idlest where it fits: there is nothing to import from it.',
  ]
  await writeFile(join(folder, 'README.md'), `${readme.join('\n')}\n`)
  return { name: manifest.name, folder }
}

/** @param {Context} context */
async function stagePages({ root, into, source }) {
  const folder = join(into, 'pages')
  const manifest = pagesManifest(source)
  const files = filesUnder(root, ['dist/pages'])
    .map((file) => basename(file))
    .filter((file) => !file.startsWith('.'))
  if (files.length === 0) throw new Error('dist/pages is empty: the pages are not built')
  await writePackage(folder, { ...manifest, files })
  for (const file of files) await copy(join(root, 'dist/pages', file), join(folder, file))
  await copy(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const readme = [
    `# ${manifest.name}`,
    'The pages of idlest: `idlest scene`, `balancer.serve()` and the report of `idlest simulate`.',
    'npm installs it beside idlest unless told to omit optional packages: there is nothing to import from it.',
  ]
  await writeFile(join(folder, 'README.md'), `${readme.join('\n')}\n`)
  return { name: manifest.name, folder }
}

/**
 * @param {Context} context
 * @param {string[]} optional the names of the packages beside it
 */
async function stageMain({ root, into, source }, optional) {
  const folder = join(into, 'idlest')
  const { manifest, copies } = mainManifest(source, optional)
  const modules = await publishedModules(root, manifest)
  const facades = await commonJs(root, manifest)
  for (const [file, text] of [...modules, ...facades]) await write(folder, file, text)
  for (const file of Object.values(manifest.bin)) await chmod(join(folder, file), 0o755)
  const types = await declarations(root)
  for (const file of filesUnder(types, ['.']).filter((path) => path.endsWith('.d.ts'))) {
    await copy(join(types, file), join(folder, 'dist', file))
  }
  for (const file of documents) await copy(join(root, file), join(folder, file))
  for (const { from, to } of copies) await copy(join(root, from), join(folder, to))
  await writePackage(folder, manifest)
  return { name: manifest.name, folder }
}

/**
 * @param {string} folder
 * @param {Record<string, unknown>} manifest
 */
async function writePackage(folder, manifest) {
  await write(folder, 'package.json', `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {string} text
 */
async function write(folder, file, text) {
  await mkdir(dirname(join(folder, file)), { recursive: true })
  await writeFile(join(folder, file), text)
}

/**
 * @param {string} from
 * @param {string} to
 */
async function copy(from, to) {
  await mkdir(dirname(to), { recursive: true })
  await copyFile(from, to)
}
