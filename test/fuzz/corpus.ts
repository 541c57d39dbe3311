import { readFileSync } from 'node:fs'

/** An input as text, or as bytes in hexadecimal. */
type Written = string | { readonly hex: string }

const written: Record<string, Written[]> = JSON.parse(
  readFileSync(new URL('corpus.json', import.meta.url), 'utf8'),
)

/** What fuzzing of a reader starts from. */
export function corpusOf(target: string): Uint8Array[] {
  return (written[target] ?? []).map((input) =>
    typeof input === 'string' ? Buffer.from(input) : Buffer.from(input.hex, 'hex'),
  )
}
