import { DEFAULTS, type Inputs, isAllowed, isScenePolicy, type NumberInput, ranges } from './inputs.js'

/** What a link says. */
export interface LinkRead {
  /** What it sets, and the defaults for the rest. */
  readonly inputs: Inputs
  /** Names in it that count for nothing: unknown, or with a value that is not one. Each once, the first few of many. */
  readonly ignored: readonly string[]
}

/** Most names that are repeated to the reader. */
const MOST_NAMES = 10

/** Longest name that is repeated to the reader. */
const LONGEST_NAME = 32

const numbers = Object.keys(ranges) as readonly NumberInput[]

/** The part of a link that holds the inputs, with its `#`: what differs from the defaults; '' where nothing does. */
export function toLink(inputs: Inputs): string {
  const names = ['policy', 'second', ...numbers] as const
  const parts = names
    .filter((name) => inputs[name] !== undefined && inputs[name] !== DEFAULTS[name])
    .map((name) => `${name}=${inputs[name]}`)
  return parts.length === 0 ? '' : `#${parts.join('&')}`
}

/**
 * Reads what `toLink` wrote, or what anybody wrote: never throws. Where a name stands twice, the last that is right counts.
 * @param hash with or without its `#`
 */
export function fromLink(hash: string): LinkRead {
  const read: Partial<Record<keyof Inputs, string | number>> = {}
  const ignored = new Set<string>()
  for (const part of hash.replace(/^#/, '').split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decoded(at < 0 ? part : part.slice(0, at))
    const value = valueFor(name, at < 0 ? '' : decoded(part.slice(at + 1)))
    if (value !== undefined) read[name as keyof Inputs] = value
    else if (ignored.size === MOST_NAMES) ignored.add('…')
    else if (ignored.size < MOST_NAMES)
      ignored.add(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name)
  }
  return { inputs: { ...DEFAULTS, ...(read as Partial<Inputs>) }, ignored: [...ignored] }
}

function valueFor(name: string, text: string): string | number | undefined {
  if (name === 'policy' || name === 'second') return isScenePolicy(text) ? text : undefined
  const input = numbers.find((number) => number === name)
  if (input === undefined) return undefined
  // Number('') is 0.
  const value = text.trim() === '' ? Number.NaN : Number(text)
  // Adding 0 makes -0 plain.
  return isAllowed(input, value) ? value + 0 : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
