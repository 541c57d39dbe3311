// The links of the documentation, and the places in it that links may lead to.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { documents } from './blocks.js'

const ROOT = new URL('../../', import.meta.url)

/** A link as it is written: `[text](target)`. */
export interface Link {
  readonly file: string
  readonly line: number
  readonly target: string
}

/** All pages that people read: those with examples, and others at the top, in .github and in bench. */
export const pages: readonly string[] = [
  ...documents,
  ...['.', '.github', 'bench'].flatMap((folder) =>
    readdirSync(new URL(folder, ROOT))
      .filter((file) => file.endsWith('.md') && file !== 'README.md')
      .map((file) => posix.join(folder, file)),
  ),
  ...(existsSync(new URL('bench/README.md', ROOT)) ? ['bench/README.md'] : []),
]

/** A page's lines, with those of fenced blocks left empty. */
export function textOf(file: string): string[] {
  let fence = ''
  return readFileSync(new URL(file, ROOT), 'utf8')
    .split('\n')
    .map((line) => {
      const [, mark = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
      if (fence !== '') {
        if (mark.startsWith(fence)) fence = ''
        return ''
      }
      fence = mark
      return mark === '' ? line : ''
    })
}

/** The links of a page that lead into this repository; what stands within backticks is none. */
export function linksOf(file: string, lines: readonly string[] = textOf(file)): Link[] {
  return lines.flatMap((line, i) =>
    [...line.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => ({ file, line: i + 1, target }))
      .filter(({ target }) => !/^[a-z]+:/.test(target)),
  )
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(lines: readonly string[]): Set<string> {
  const anchors = new Set<string>()
  for (const line of lines) {
    const [, heading] = /^#{1,6} (.*)$/.exec(line) ?? []
    if (heading === undefined) continue
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`
    anchors.add(anchor)
  }
  return anchors
}

/** Why a link leads nowhere; undefined where it leads somewhere. */
export function complaintOf({ file, line, target }: Link): string | undefined {
  const [path = '', anchor] = target.split('#')
  const page = path === '' ? file : posix.join(posix.dirname(file), path)
  if (!existsSync(new URL(page, ROOT))) return `${file}:${line}: there is no ${page}`
  if (anchor === undefined || anchorsOf(textOf(page)).has(anchor)) return undefined
  return `${file}:${line}: ${page} has no heading #${anchor}`
}
