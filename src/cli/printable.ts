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

/** A text of elsewhere such that it can do no more to a terminal than be shown. */
export function printable(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSAFE, picture)
}
