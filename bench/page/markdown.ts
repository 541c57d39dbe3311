/** A table in Markdown. @param left how many columns are text; those after them are numbers */
export function table(head: readonly string[], rows: readonly (readonly string[])[], left = 1): string {
  const rule = head.map((_, i) => (i < left ? '---' : '---:'))
  return [head, rule, ...rows].map(row).join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

export function bold(text: string): string {
  return `**${text}**`
}

export function code(text: string): string {
  return `\`${text}\``
}

export interface Replaced {
  readonly text: string
  /** Sections that have markers there, by name. */
  readonly found: readonly string[]
}

/**
 * Puts text between the markers `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, and leaves all else as it is.
 * @param sections what is to stand there, by name; others stay
 */
export function fillSections(text: string, sections: ReadonlyMap<string, string>): Replaced {
  const found: string[] = []
  const filled = text.replace(
    /(<!-- bench:([\w-]+) -->)[\s\S]*?(<!-- \/bench:\2 -->)/g,
    (whole, open: string, name: string, close: string) => {
      found.push(name)
      const section = sections.get(name)
      return section === undefined ? whole : `${open}\n${section}\n${close}`
    },
  )
  return { text: filled, found }
}
