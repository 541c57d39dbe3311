import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readQuality } from '../quality/results.js'
import { readResults } from '../results.js'
import { EXPECTED, type Pages, pagesOf, sectionsOf } from './pages.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const DOCS = '.github/docs'

/** The pages that may have something of the results in them, by path from the root. */
export function readTexts(): Map<string, string> {
  const docs = readdirSync(join(root, DOCS)).filter((name) => name.endsWith('.md'))
  const paths = ['README.md', ...docs.map((name) => `${DOCS}/${name}`)]
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** All pages as the kept results make them. */
export function makePages(): Pages {
  return pagesOf(readResults(), readQuality(), readTexts())
}

/** Writes them. @returns what to tell */
export function writePages(): string[] {
  const results = readResults()
  const quality = readQuality()
  const { pages, found } = makePages()
  for (const [path, text] of pages) writeFileSync(join(root, path), text)
  const known = sectionsOf(results, quality)
  return [
    ...(results === undefined
      ? ['There is no bench/results.json: `npm run bench -- --write` makes it.']
      : []),
    ...(quality === undefined
      ? ['There is no bench/quality.json: `npm run quality -- --write` makes it.']
      : []),
    ...[...pages.keys()].map((path) => `written: ${path}`),
    ...EXPECTED.filter((name) => !found.includes(name)).map(
      (name) =>
        `No page has the markers <!-- bench:${name} --> and <!-- /bench:${name} -->: that section is nowhere.`,
    ),
    ...(results?.quick ? ['This was a quick run: what other pages have of results stays as it is.'] : []),
    ...found
      .filter((name) => results?.quick === false && !known.has(name))
      .map((name) => `Nothing is known of the section bench:${name}: it stays as it is.`),
  ]
}
