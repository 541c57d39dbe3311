// The examples in the comments of src/, as they are written there.
import { readdirSync, readFileSync } from 'node:fs'
import { type Block, blocksOf } from './blocks.js'

const ROOT = new URL('../../', import.meta.url)

/** Of the pages, which are nobody's to call, and of the command line. */
const OTHERS = ['scene', 'cli']

const files = readdirSync(new URL('src', ROOT), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !OTHERS.some((folder) => file.startsWith(`${folder}/`)))
  .map((file) => `src/${file}`)
  .sort()

/** The examples in a file's comments. */
function examplesOf(file: string): Block[] {
  const lines = readFileSync(new URL(file, ROOT), 'utf8').split('\n')
  const texts = lines.map((line) => /^\s*\* ?(.*)$/.exec(line)?.[1] ?? '')
  // Other blocks, such as drawings, are no examples.
  const isExample = ({ line }: Block) => texts[line - 3]?.startsWith('@example')
  return blocksOf(file, texts).filter(isExample)
}

/** The examples of all comments. */
export const comments: readonly Block[] = files.flatMap(examplesOf)
