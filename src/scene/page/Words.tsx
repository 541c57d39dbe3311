import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface WordsProps {
  /** The class gives the font. */
  readonly class: string
  /** Wordings, from the longest to the shortest. */
  readonly choices: readonly string[]
  /** Width that the text may take, px. */
  readonly room: number
  readonly x: number
  readonly y: number
}

/** Widths of texts, px, by their class and wording. Digits are all as wide, so any digit stands for all. */
const widths = new Map<string, number>()

/**
 * A text of the drawing that fits its room in any font: the first wording that does, or the last one, squeezed. SVG
 * neither wraps nor cuts a text, and how wide it becomes is known only once the browser has measured it.
 */
export function Words({ class: name, choices, room, x, y }: WordsProps) {
  const probe = useRef<SVGTextElement>(null)
  const [, setMeasured] = useState(0)
  const keys = choices.map((text) => `${name} ${text.replaceAll(/\d/g, '0')}`)
  useLayoutEffect(() => {
    const element = probe.current
    const unknown = keys.filter((key) => !widths.has(key))
    if (element === null || unknown.length === 0) return
    for (const key of unknown) {
      element.textContent = key.slice(name.length + 1)
      widths.set(key, element.getComputedTextLength())
    }
    element.textContent = ''
    setMeasured((times) => times + 1)
  })
  const fitting = keys.findIndex((key) => (widths.get(key) ?? 0) <= room)
  const squeezed = fitting < 0 && room > 0 ? { textLength: room, lengthAdjust: 'spacingAndGlyphs' } : {}
  return (
    <>
      <text ref={probe} class={name} visibility="hidden" />
      <text class={name} x={x} y={y} {...squeezed}>
        {choices.at(fitting)}
      </text>
    </>
  )
}
