import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { declarations, entryPoints } from './declarations.mjs'
import { load, tools } from './tools.mjs'

/** The packages' own types that a program of theirs would have. */
export const compilerOptions = {
  target: 'es2022',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
}

/**
 * What API Extractor tells of, as it comes up.
 * @typedef {{ messageId: string, category: string, text: string, logLevel: string, handled: boolean }} Message
 */

/**
 * Writes down the public API of each entry point of the package, as reports that people can review.
 * @param {string} root
 * @returns {Promise<Map<string, string>>} texts by file names, such as `idlest.api.md` and `undici.api.md`
 */
export async function reports(root) {
  const [folder, types] = [await tools(root), await declarations(root)]
  const { CompilerState, Extractor, ExtractorConfig } = await load(folder, '@microsoft/api-extractor')
  const into = mkdtempSync(join(tmpdir(), 'idlest-api-'))
  const entries = [...entryPoints(root)].map(([name, file]) => ({ name, path: join(types, file) }))
  try {
    const configs = entries.map(({ name, path }) =>
      ExtractorConfig.prepare({
        configObject: configOf({ root, into, path, name: shortName(name), types }),
        configObjectFullPath: undefined,
        packageJsonFullPath: join(root, 'package.json'),
      }),
    )
    const compilerState = CompilerState.create(configs[0], {
      additionalEntryPoints: entries.slice(1).map(({ path }) => path),
    })
    /** @type {Map<string, string>} */
    const texts = new Map()
    /** @type {Set<string> | undefined} what the main entry point exports */
    let main
    entries.forEach(({ name }, i) => {
      /** @type {string[]} */
      const problems = []
      Extractor.invoke(configs[i], {
        localBuild: true,
        compilerState,
        messageCallback: (/** @type {Message} */ message) => {
          if (message.category !== 'console' && message.logLevel !== 'none') problems.push(message.text)
          message.handled = true
        },
      })
      if (problems.length > 0) throw new Error(`${name}: ${problems.join('\n')}`)
      const file = `${shortName(name)}.api.md`
      const text = tidy(readFileSync(join(into, file), 'utf8'), name, main)
      main ??= new Set(exportsOf(text))
      texts.set(file, text)
    })
    return texts
  } finally {
    rmSync(into, { recursive: true })
  }
}

/** @param {{ root: string, into: string, path: string, name: string, types: string }} entry */
function configOf({ root, into, path, name, types }) {
  return {
    projectFolder: root,
    mainEntryPointFilePath: path,
    compiler: { overrideTsconfig: { compilerOptions, files: [join(types, 'index.d.ts')] } },
    apiReport: {
      enabled: true,
      reportFolder: into,
      reportTempFolder: join(into, 'temp'),
      reportFileName: name,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: 'lf',
    messages: {
      extractorMessageReporting: {
        default: { logLevel: 'none' },
        'ae-forgotten-export': { logLevel: 'none', addToApiReportFile: true },
      },
      tsdocMessageReporting: { default: { logLevel: 'none' } },
    },
  }
}

/**
 * `idlest/undici` is reported in `undici.api.md`.
 * @param {string} name
 */
function shortName(name) {
  return name.slice(name.indexOf('/') + 1)
}

const FORGOTTEN =
  /^ *\/\/ Warning: \(ae-forgotten-export\) The symbol "(\w+)" needs to be exported.*\n( *\/\/\n)?/gm

/**
 * Leaves out what is no news: that a type of the main entry point is not exported by the others too, and that tags
 * such as `@public` are not used.
 * @param {string} text
 * @param {string} name
 * @param {Set<string>} [elsewhere]
 */
function tidy(text, name, elsewhere = new Set()) {
  return text
    .replace(/^## API Report File for .*$/m, `## API report of \`${name}\``)
    .replace(
      /^> Do not edit.*$/m,
      '> Made by `npm run api -- --write` from the declarations, by [API Extractor](https://api-extractor.com/). Not edited by hand.',
    )
    .replace(FORGOTTEN, (line, symbol) => (elsewhere.has(symbol) ? '' : line))
    .replace(/^\/\/ @public( \(undocumented\))?\n/gm, (_, undocumented) =>
      undocumented ? '// (undocumented)\n' : '',
    )
    .replace(/^\/\/\/ <reference .*\n\n?/gm, '')
    .replace(/^\n?\/\/ \(No @packageDocumentation.*\n\n?/m, '')
}

/**
 * The names that a report's entry point exports.
 * @param {string} report
 * @returns {string[]}
 */
export function exportsOf(report) {
  return [...itemsOf(report).keys()]
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const|enum|namespace) (\w+)/

/**
 * What a report tells of each export, line by line and without the comments.
 * @param {string} report
 * @returns {Map<string, string[]>}
 */
export function itemsOf(report) {
  const code = report.split('```ts\n')[1]?.split('\n```')[0] ?? ''
  /** @type {Map<string, string[]>} */
  const items = new Map()
  /** @type {string[]} */
  let lines = []
  for (const line of code.split('\n')) {
    const name = DECLARED.exec(line)?.[1]
    if (name !== undefined) {
      lines = items.get(name) ?? []
      items.set(name, lines)
    } else if (/^(import|export) /.test(line)) {
      lines = []
    }
    if (line.trim() !== '' && !/^\s*(\/\/|\/\*\*|\*)/.test(line)) lines.push(line)
  }
  return items
}
