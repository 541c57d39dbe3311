import { closest } from 'fastest-levenshtein'

/**
 * The known name that a wrong one most likely stands for. An abbreviation or a longer name, such as `host` for `hostname`,
 * goes before names with nearer letters. Case does not count; of several equally near names the first is taken.
 *
 * @param known at least one
 */
export function nearestName(wrong: string, known: readonly string[]): string {
  const name = wrong.toLowerCase()
  const lower = known.map((one) => one.toLowerCase())
  const akin = lower.filter((one) => name.length >= 3 && (one.startsWith(name) || name.startsWith(one)))
  return known[lower.indexOf(closest(name, akin.length > 0 ? akin : lower))] as string
}
