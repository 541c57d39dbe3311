import { itemsOf } from './report.mjs'

/**
 * A change of what an entry point exports: `removed` lines may break who uses it, `added` ones alone do not.
 * @typedef {{ file: string, name: string, removed: string[], added: string[] }} Change
 */

/** @typedef {'none' | 'minor' | 'major'} Due what semantic versioning asks for; before 1.0, minor stands for both */

/**
 * What has changed from one set of reports to another.
 * @param {ReadonlyMap<string, string>} before texts by file names
 * @param {ReadonlyMap<string, string>} after
 * @returns {Change[]}
 */
export function changes(before, after) {
  const files = [...new Set([...before.keys(), ...after.keys()])].sort()
  return files.flatMap((file) => {
    const [old, now] = [itemsOf(before.get(file) ?? ''), itemsOf(after.get(file) ?? '')]
    const names = [...new Set([...old.keys(), ...now.keys()])].sort()
    return names.flatMap((name) => {
      const [from, to] = [old.get(name) ?? [], now.get(name) ?? []]
      const [removed, added] = [without(from, to), without(to, from)]
      return removed.length > 0 || added.length > 0 ? [{ file, name, removed, added }] : []
    })
  })
}

/**
 * The lines that the other list does not have, each as often as it lacks it. The order of lines does not matter: reports
 * sort the members of a type.
 * @param {readonly string[]} lines
 * @param {readonly string[]} others
 */
function without(lines, others) {
  const left = [...others]
  return lines.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/**
 * Whether a change may break a program that compiles today: something is gone or reads otherwise, or what users have to
 * give has one more part that is not optional.
 * @param {Change} change
 */
export function isBreaking({ name, removed, added }) {
  if (removed.length > 0) return true
  return (
    GIVEN.test(name) &&
    !added.some(isDeclared) &&
    added.some((line) => /^ {4}(readonly )?\w+[:(<]/.test(line))
  )
}

/** Names of types that users make values of. */
const GIVEN = /(Options|Settings|Like|Inputs|Transport|Picker|Clock|Source|Follower)$/

/** @param {string} line */
function isDeclared(line) {
  return line.startsWith('export ')
}

/**
 * The next version that changes ask for, at least.
 * @param {readonly Change[]} all
 * @returns {Due}
 */
export function due(all) {
  if (all.some(isBreaking)) return 'major'
  return all.length > 0 ? 'minor' : 'none'
}

/**
 * Which part of the version has to step, at least.
 * @param {Due} level
 * @param {string} version the one that the changes are against, such as `0.1.0`
 * @returns {'major' | 'minor' | 'patch'}
 */
export function step(level, version) {
  if (level === 'none') return 'patch'
  return level === 'major' && !version.startsWith('0.') ? 'major' : 'minor'
}

/**
 * Changes as people read them.
 * @param {readonly Change[]} all
 */
export function described(all) {
  return all.map((change) => {
    const { file, name, removed, added } = change
    return [
      `${isBreaking(change) ? 'breaking' : 'added'}: ${name} (${file})`,
      ...removed.map((line) => `  - ${line}`),
      ...added.map((line) => `  + ${line}`),
    ].join('\n')
  })
}
