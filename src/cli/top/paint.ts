import { styleText } from 'node:util'

/** How a text is shown. */
export type Style = 'bold' | 'dim' | 'inverse' | 'red' | 'yellow' | 'green' | 'cyan'

/** Gives a text a style, where colours are shown. */
export type Paint = (style: Style, text: string) => string

/** No colours. */
export const plain: Paint = (_, text) => text

/** Colours as this stream shows them: none for what is no terminal, or by NO_COLOR. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream })
}
