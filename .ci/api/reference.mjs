import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { categories, categoryOf } from './categories.mjs'
import { declarations, entryPoints, PARTS } from './declarations.mjs'
import { compilerOptions } from './report.mjs'
import { load, tools } from './tools.mjs'

const GUIDES = '.github/docs'

/** What guides and README lead to, that would be files to download else. */
const OTHERS = ['CHANGELOG.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md']

/**
 * What is used of typedoc's reflections.
 * @typedef {{ name: string, children?: Reflection[], signatures?: Reflection[], comment?: Comment }} Reflection
 * @typedef {{ blockTags: { tag: string }[] }} Comment
 * @typedef {{ name: string, content: { text: string }[] }} Page
 * @typedef {Reflection & { documents?: Page[], getSymbolIdFromReflection(of: Reflection): { packagePath: string } | undefined }} Project
 */

/**
 * Makes the API reference as HTML: of the declarations, file by file, since the files say what belongs together.
 * @param {string} root
 * @param {string} [into]
 * @returns {Promise<string | undefined>} where it is; undefined where something was wrong, which was told
 */
export async function reference(root, into = join(root, 'npm/docs')) {
  const folder = await tools(root)
  await declarations(root)
  const types = join(root, PARTS)
  const typedoc = await load(folder, 'typedoc')
  const entries = entryPoints(root)
  const tsconfig = join(types, 'tsconfig.json')
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions, files: [...entries.values()] }))
  rmSync(into, { recursive: true, force: true })
  const app = await typedoc.Application.bootstrap({
    ...look(root),
    entryPoints: [...entries.values()].map((file) => join(types, file)),
    tsconfig,
    disableSources: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    treatWarningsAsErrors: true,
    treatValidationWarningsAsErrors: true,
    validation: { notExported: true, invalidLink: true, invalidPath: true, rewrittenLink: true },
  })
  const names = new Map([...entries].map(([name, file]) => [file, name]))
  app.converter.on(typedoc.Converter.EVENT_RESOLVE_BEGIN, (/** @type {{ project: Project }} */ { project }) =>
    arrange(typedoc, project, names),
  )
  const project = await app.convert()
  if (project === undefined) return undefined
  app.validate(project)
  if (isTold(app)) return undefined
  await app.generateDocs(project, into)
  return isTold(app) ? undefined : into
}

/** @param {{ logger: { hasErrors(): boolean, hasWarnings(): boolean } }} app */
function isTold({ logger }) {
  return logger.hasErrors() || logger.hasWarnings()
}

/**
 * How the pages look.
 * @param {string} root
 */
function look(root) {
  return {
    name: 'idlest',
    includeVersion: true,
    readme: join(root, 'README.md'),
    projectDocuments: [
      ...guides(root).map((name) => join(root, GUIDES, name)),
      ...OTHERS.map((name) => join(root, name)).filter((path) => existsSync(path)),
    ],
    categorizeByGroup: false,
    categoryOrder: categories,
    sort: ['kind', 'source-order'],
    kindSortOrder: ['Function', 'Class', 'Interface', 'TypeAlias', 'Variable'],
    navigation: { includeCategories: true, includeGroups: false, includeFolders: false },
    // As `exports` has them.
    sortEntryPoints: false,
    searchInComments: true,
    searchInDocuments: true,
    hideGenerator: true,
    highlightLanguages: ['ts', 'js', 'json', 'sh', 'yaml', 'elixir', 'mermaid'],
    // Nobody has written down how it is highlighted.
    ignoredHighlightLanguages: ['haproxy'],
    githubPages: false,
    // They are not published, and a page without a source may not link to one.
    disableGit: true,
    sourceLinkTemplate: '',
  }
}

/**
 * The guides in the order in which their index names them.
 * @param {string} root
 */
function guides(root) {
  const names = readdirSync(join(root, GUIDES)).filter((name) => name.endsWith('.md'))
  const index = readFileSync(join(root, GUIDES, 'index.md'), 'utf8')
  const place = (/** @type {string} */ name) => (name === 'index.md' ? -1 : index.indexOf(`](${name}`) >>> 0)
  return names.sort((a, b) => place(a) - place(b))
}

/**
 * The title of a page: its first heading.
 * @param {readonly { text: string }[]} content
 */
function titleOf(content) {
  return /^# (.+)$/m.exec(content.map(({ text }) => text).join(''))?.[1]
}

/**
 * Calls entry points what users import them by, and gives each export the category of the file that it comes from.
 * @param {any} typedoc
 * @param {Project} project
 * @param {ReadonlyMap<string, string>} names
 */
function arrange(typedoc, project, names) {
  const fileOf = (/** @type {Reflection} */ one) =>
    project.getSymbolIdFromReflection(one)?.packagePath.replace(`${PARTS}/`, '') ?? ''
  for (const page of project.documents ?? []) page.name = titleOf(page.content) ?? page.name
  for (const module of project.children ?? []) {
    module.name = names.get(fileOf(module)) ?? module.name
    for (const one of module.children ?? []) {
      const file = fileOf(one)
      const category = categoryOf(file)
      if (category === undefined)
        throw new Error(`${file} has no category in .ci/api/categories.mjs: ${one.name}`)
      for (const told of one.signatures ?? [one]) {
        told.comment ??= new typedoc.Comment()
        told.comment?.blockTags.push(new typedoc.CommentTag('@category', [{ kind: 'text', text: category }]))
      }
    }
  }
}
