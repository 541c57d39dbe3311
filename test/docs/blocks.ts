// The examples of the documentation, as they are written there.
import { readdirSync, readFileSync } from 'node:fs'

const ROOT = new URL('../../', import.meta.url)
const GUIDES = '.github/docs/'

/** A fenced block of a document. */
export interface Block {
  /** Such as `README.md`. */
  readonly file: string
  /** Of its first line of text, from 1. */
  readonly line: number
  /** What follows the fence; empty where nothing does. */
  readonly language: string
  /** Without the fences. */
  readonly text: string
}

/** A command that stands alone in a line of text or of a block. */
export interface Command {
  readonly file: string
  readonly line: number
  readonly text: string
}

/** README.md and all guides. */
export const documents: readonly string[] = [
  'README.md',
  ...readdirSync(new URL(GUIDES, ROOT))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${GUIDES}${file}`),
]

/** The lines of a document. */
export function linesOf(file: string): string[] {
  return readFileSync(new URL(file, ROOT), 'utf8').split('\n')
}

/** All fenced blocks of a document. Throws where one has no end. */
export function blocksOf(file: string, lines: readonly string[] = linesOf(file)): Block[] {
  const blocks: Block[] = []
  let open: { line: number; fence: string; language: string; text: string[] } | undefined
  for (const [i, line] of lines.entries()) {
    const [, fence = '', language = ''] = /^ {0,3}(`{3,}|~{3,})\s*(\S*)/.exec(line) ?? []
    if (open === undefined) {
      if (fence !== '') open = { line: i + 2, fence, language, text: [] }
    } else if (fence.startsWith(open.fence) && language === '') {
      blocks.push({ file, line: open.line, language: open.language, text: `${open.text.join('\n')}\n` })
      open = undefined
    } else {
      open.text.push(line)
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: a block without an end`)
  return blocks
}

/** The blocks of all documents. */
export const blocks: readonly Block[] = documents.flatMap((file) => blocksOf(file))

/** The lines of a block of commands, without comments. */
export function commandsOf({ file, line, text }: Block): Command[] {
  return text.split('\n').flatMap((row, i) => {
    const command = row.replace(/(^|\s+)#.*$/, '').trim()
    return command === '' ? [] : [{ file, line: line + i, text: command }]
  })
}

/** Commands of `idlest` within a text, such as `npx idlest agent --port 9000`; without an argument it is but a name. */
export function commandsWithin(file: string, lines: readonly string[] = linesOf(file)): Command[] {
  return lines.flatMap((row, i) =>
    [...row.matchAll(/`((?:\w+=\S+ )*npx idlest \w+ [^`]+)`/g)].map(([, text = '']) => ({
      file,
      line: i + 1,
      text,
    })),
  )
}

/** Where it is, as an editor opens it. */
export function placeOf({ file, line }: Block | Command): string {
  return `${file}:${line}`
}
