import * as v from 'valibot'
import { type Clock, isClock, LONGEST_WAIT } from './clock.js'
import { HIDDEN, OptionError, shown, UNKNOWN_OPTION } from './errors.js'
import { hasFields } from './fields.js'
import { nearestName } from './nearest.js'

/**
 * Checks options that a user passed and fills in defaults; throws OptionError for the first that is wrong, with its
 * path, its value and what would be right. An unknown option is wrong too, and the error names the nearest known one, but
 * not the value, which may be a secret under a misspelt name.
 *
 * Schemas are valibot's; build objects with `options` (it knows its keys), and give leaves a message that completes
 * "expected …", or take one of the leaves below, which have it.
 *
 * ```ts
 * const pollOptions = options({
 *   interval: v.optional(milliseconds(1), 5_000),
 *   workers: v.optional(whole(1, 64), 1),
 *   transport: v.optional(options({ path: v.optional(text(), '/report') })),
 *   onCycle: v.optional(method<(stored: number) => void>()),
 * })
 *
 * const poll = checkOptions('poll', { interval: 250 }, pollOptions) // { interval: 250, workers: 1 }
 * checkOptions('poll', { intervall: 250 }, pollOptions)
 * // OptionError: option poll.intervall is unknown: expected a known option; the nearest is "interval"
 * checkOptions('poll', { interval: -1 }, pollOptions)
 * // OptionError: option poll.interval is -1: expected a number of milliseconds of at least 1
 * ```
 *
 * @param path what the options are called, for messages; '' where they are the arguments of the call itself
 */
export function checkOptions<S extends v.GenericSchema>(
  path: string,
  value: unknown,
  schema: S,
): v.InferOutput<S> {
  const result = parsed(path, value, schema)
  if (result.success) return result.output
  throw errorOf(path, namesFirst(findings(value, result.issues))[0] as Finding)
}

/** One thing that is wrong with options. */
export interface Finding {
  /** Names and indices that lead to it. */
  readonly path: readonly (string | number)[]
  /** `UNKNOWN_OPTION` where the name is wrong, HIDDEN where it may be a secret. */
  readonly value: unknown
  /** What would be right. */
  readonly expected: string
  /** Whether it is the name that is wrong: there is no such option. */
  readonly isName: boolean
}

/**
 * As {@link checkOptions}, but gives all that is wrong in place of throwing the first.
 * @throws OptionError for a value that can't be read at all
 */
export function findWrong<S extends v.GenericSchema>(
  path: string,
  value: unknown,
  schema: S,
):
  | { readonly ok: true; readonly value: v.InferOutput<S> }
  | { readonly ok: false; readonly wrong: Finding[] } {
  const result = parsed(path, value, schema)
  if (result.success) return { ok: true, value: result.output }
  return { ok: false, wrong: findings(value, result.issues) }
}

// Getters and proxies throw what they like.
function parsed<S extends v.GenericSchema>(path: string, value: unknown, schema: S): v.SafeParseResult<S> {
  try {
    return v.safeParse(schema, value)
  } catch (error) {
    throw new OptionError(path || 'options', value, 'what can be read without an error', error)
  }
}

/** An object of options: all its keys are known, and any other is an error that names the nearest. */
export function options<const E extends v.ObjectEntries>(entries: E) {
  const known = Object.keys(entries)
  const schema = v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') {
      const wrong = String(issue.input)
      return known.length === 0 ? NO_OPTIONS : `${KNOWN_OPTION}${shown(nearestName(wrong, known))}`
    }
    return issue.received === 'undefined' && issue.expected !== 'Object'
      ? `a value for ${issue.expected}`
      : AN_OBJECT
  })
  return v.pipe(v.custom<v.InferInput<typeof schema>>(hasFields, AN_OBJECT), schema)
}

/** A finite number from `min` to `max`. */
export function number(min: number, max = Number.POSITIVE_INFINITY, what = 'a number') {
  const expected = `${what} ${range(min, max)}`
  return v.pipe(v.number(expected), v.finite(expected), v.minValue(min, expected), v.maxValue(max, expected))
}

/** A finite time in milliseconds, fractions allowed. The greatest is what timers take: 24.8 days. */
export function milliseconds(min = 0, max = LONGEST_WAIT) {
  return number(min, max, 'a number of milliseconds')
}

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number ${range(min, max)}`
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(min, expected), v.maxValue(max, expected))
}

/** A string that is not empty. */
export function text(expected = 'a string that is not empty') {
  return v.pipe(v.string(expected), v.minLength(1, expected))
}

/** `true` or `false`. */
export function flag() {
  return v.boolean('true or false')
}

/** A function. Only that it is one can be checked; `F` is the caller's word. */
export function method<F extends (...args: never[]) => unknown>(expected = 'a function') {
  return v.custom<F>((value) => typeof value === 'function', expected)
}

/** A value that no error may show, such as a token. An empty one usually comes from a variable that is not set. */
export function secret<T>(check: (value: unknown) => value is T, expected: string, what = 'value') {
  return v.pipe(
    v.custom<T>(() => true),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || check(dataset.value)) return
      const isEmpty = (dataset.value as unknown) === ''
      const message = isEmpty
        ? `${expected}; the ${what} is empty: is the environment variable set?`
        : expected
      addIssue({ message, expected, input: HIDDEN })
    }),
  )
}

/** A clock. */
export const clockSchema = v.custom<Clock>(
  isClock,
  'a clock: an object with setTimeout, clearTimeout, and now, which gives a finite number of milliseconds',
)

/** One of some words, such as `oneOf(['auto', 'native', 'portable'])`. */
export function oneOf<const W extends readonly string[]>(words: W) {
  return v.picklist(words, `one of ${words.map((word) => shown(word)).join(', ')}`)
}

function range(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY || max === Number.MAX_SAFE_INTEGER) return `of at least ${min}`
  return `from ${min} to ${max}`
}

const AN_OBJECT = 'an object of options'
const NO_OPTIONS = 'no options'
const KNOWN_OPTION = 'a known option; the nearest is '

type Issue = v.BaseIssue<unknown>

function isUnknownKey(issue: Issue): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never'
}

// Of a union's branches, the one that got furthest into the value is what was meant.
function deepest(issue: Issue): Issue {
  let best = issue
  for (const branch of issue.issues ?? []) {
    const inner = deepest(branch)
    if ((inner.path?.length ?? 0) > (best.path?.length ?? 0) - (issue.path?.length ?? 0)) {
      best = { ...inner, path: joined(issue, inner) } as Issue
    }
  }
  return best
}

function joined(outer: Issue, inner: Issue): Issue['path'] {
  const [first, ...rest] = [...(outer.path ?? []), ...(inner.path ?? [])]
  return first === undefined ? undefined : [first, ...rest]
}

function findings(value: unknown, issues: readonly Issue[]): Finding[] {
  return issues.map(deepest).map((issue) => {
    const { path = [] } = issue
    const expected = said(issue)
    // Also where a check of ours passes on what another schema found.
    const isName = isUnknownKey(issue) || expected === NO_OPTIONS || expected.startsWith(KNOWN_OPTION)
    const wrong = issue.path === undefined ? value : issue.input
    return {
      path: path.map(({ key }) => (typeof key === 'number' ? key : String(key))),
      value: isName ? UNKNOWN_OPTION : tellable(wrong, expected),
      expected,
      isName,
    }
  })
}

// A text in the place of options may be one of them: a token, or a key in PEM.
function tellable(value: unknown, expected: string): unknown {
  return expected === AN_OBJECT && typeof value === 'string' ? HIDDEN : value
}

// A misspelt name explains a missing one.
function namesFirst(wrong: readonly Finding[]): Finding[] {
  return [...wrong].sort((a, b) => Number(b.isName) - Number(a.isName))
}

function errorOf(root: string, { path, value, expected }: Finding): OptionError {
  const names = [root, ...path].filter((name) => name !== '')
  return new OptionError(names.join('.') || 'options', value, expected)
}

// Valibot's own messages start with "Invalid"; what it expected is more to the point.
function said(issue: Issue): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  return issue.expected === null ? issue.message : issue.expected
}
