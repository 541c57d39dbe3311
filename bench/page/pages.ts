import type { QualityResults } from '../quality/results.js'
import type { Results } from '../results.js'
import { policiesTable } from './figures.js'
import { Lookup } from './lookup.js'
import { fillSections } from './markdown.js'
import { middlewareTable } from './middleware.js'
import { qualityOverview } from './quality.js'
import { resultsPage } from './results-page.js'
import { hotPath, summary } from './summary.js'

/** The page that is made whole, from the root. */
export const RESULTS_PAGE = '.github/docs/results.md'

/** Markers that should be somewhere. */
export const EXPECTED = ['summary'] as const

export interface Pages {
  /** Contents by path, of those pages alone that have something of the results in them. */
  readonly pages: ReadonlyMap<string, string>
  /** Sections that were filled, by name. */
  readonly found: readonly string[]
}

/** What may stand between markers, by name. Figures of a quick run have no place on other pages than that of the results. */
export function sectionsOf(
  results: Results | undefined,
  quality: QualityResults | undefined,
): Map<string, string> {
  const sections = new Map<string, string>()
  if (results !== undefined && !results.quick) {
    const numbers = new Lookup(results)
    sections.set('summary', summary(numbers))
    sections.set('hot-path', hotPath(numbers))
    sections.set('middleware', middlewareTable(results))
    sections.set('grpc-policies', policiesTable(results))
  }
  if (quality !== undefined) sections.set('quality', qualityOverview(quality))
  return sections
}

/**
 * Makes all pages.
 * @param texts those that there are, by path
 */
export function pagesOf(
  results: Results | undefined,
  quality: QualityResults | undefined,
  texts: ReadonlyMap<string, string>,
): Pages {
  const sections = sectionsOf(results, quality)
  const pages = new Map<string, string>()
  const found: string[] = []
  for (const [path, text] of texts) {
    if (path === RESULTS_PAGE) continue
    const filled = fillSections(text, sections)
    found.push(...filled.found)
    if (filled.found.length > 0) pages.set(path, filled.text)
  }
  if (results !== undefined) pages.set(RESULTS_PAGE, resultsPage(results, quality))
  return { pages, found }
}
