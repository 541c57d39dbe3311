import { shown, UNKNOWN_OPTION } from '../errors.js'
import { type Finding, findWrong } from '../options.js'
import { type ParsedDocument, type Problem, parseText } from './document.js'
import { crossCheck } from './plan.js'
import { type Scenario, scenarioSchema } from './scenario.js'

/** A checked scenario, or all that is wrong with it. */
export type Checked = { readonly scenario: Scenario } | { readonly wrong: readonly Finding[] }

/** Checks what a scenario is made of, such as what a file says. */
export function checkScenario(given: unknown): Checked {
  const checked = findWrong('scenario', given, scenarioSchema)
  if (!checked.ok) return checked
  const wrong = crossCheck(checked.value)
  return wrong.length > 0 ? { wrong } : { scenario: checked.value }
}

/** A finding in words. */
export function wordsOf({ path, value, expected }: Finding): string {
  const what = path.length === 0 ? 'the scenario' : path.join('.')
  return `${what} is ${value === UNKNOWN_OPTION ? 'unknown' : shown(value)}: expected ${expected}`
}

/** Findings in a file, by their places. */
function problemsOf(document: ParsedDocument, wrong: readonly Finding[]): Problem[] {
  // Two checks of one value may say the same.
  const told = new Set<string>()
  const each = wrong.filter((finding) => told.size < told.add(wordsOf(finding)).size)
  return each
    .map((finding) => ({ ...document.place(finding.path, finding.isName), message: wordsOf(finding) }))
    .sort((a, b) => a.line - b.line || a.column - b.column)
}

/**
 * Reads a scenario of YAML or JSON.
 * @param changed makes what is checked of what the text says
 */
export function readScenario(
  text: string,
  changed: (value: unknown) => unknown = (value) => value,
): { readonly scenario: Scenario } | { readonly problems: Problem[] } {
  const document = parseText(text)
  if ('problems' in document) return document
  const checked = checkScenario(changed(document.value))
  return 'scenario' in checked ? checked : { problems: problemsOf(document, checked.wrong) }
}
