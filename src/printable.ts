/** Texts of characters that any terminal shows as they are. */
export const ASCII = /^[ -~]*$/

// Control and format characters (escape sequences, new lines, marks that turn text around or have no width), halves of
// pairs, code points of no meaning known here; and variation selectors, which terminals make different widths of.
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu

/** Unicode has a picture of each of the first control characters, and one for what can't be shown. */
function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '␡' : '�'
}

/**
 * Makes a text that a peer or a file wrote safe for logs and terminals: it stays on its line, and can't move the cursor,
 * reverse the direction of the text or hide anything. All such text passes here: `reasonOf`, `shown`, `warn` and the
 * messages of idlest's errors call it, as does each command that prints.
 */
export function printable(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSAFE, picture)
}
