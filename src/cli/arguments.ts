import { InvalidArgumentError, Option } from 'commander'

// Not a number where the text is empty: `Number` takes that for 0.
function parse(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}

/** Parses any number. */
export function anyNumber(text: string): number {
  const value = parse(text)
  if (Number.isNaN(value)) throw new InvalidArgumentError('Expected a number.')
  return value
}

/**
 * A parser of numbers in a range.
 * @param what the unit, or what is counted, for messages
 */
export function numberFrom(min: number, max: number, what: string, whole = false): (text: string) => number {
  return (text) => {
    const value = parse(text)
    if (value >= min && value <= max && (!whole || Number.isSafeInteger(value))) return value
    throw new InvalidArgumentError(
      `Expected a ${whole ? 'whole ' : ''}number of ${what} from ${min} to ${max}.`,
    )
  }
}

/** Parses a seed. */
export function seed(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('Expected a whole number from 0 to 9007199254740991.')
}

/** `--engine`. */
export function engineOption(): Option {
  return new Option('--engine <name>', 'what makes the picks')
    .choices(['auto', 'native', 'portable'])
    .default('auto')
}
