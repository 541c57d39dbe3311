import { useEffect, useId, useState } from 'preact/hooks'

interface KnobProps {
  readonly label: string
  /** Values to slide through, ascending; the current one joins them. */
  readonly stops: readonly number[]
  readonly value: number
  /** The value with its unit. */
  readonly format: (value: number) => string
  /** What it does, in a few words. */
  readonly hint?: string
  /** Called when the visitor lets go. */
  readonly onSet: (value: number) => void
}

/** A number to slide; its values need not be evenly spaced. */
export function Knob({ label, stops, value, format, hint, onSet }: KnobProps) {
  const id = useId()
  const values = stops.includes(value) ? stops : [...stops, value].sort((a, b) => a - b)
  const [drawn, setDrawn] = useState(value)
  useEffect(() => setDrawn(value), [value])
  const at = Math.max(values.indexOf(drawn), 0)
  const read = (element: HTMLInputElement) => values[Number(element.value)] ?? value
  return (
    <div class="knob">
      <label for={id}>{label}</label>
      <output for={id}>{format(drawn)}</output>
      <input
        id={id}
        type="range"
        min={0}
        max={values.length - 1}
        step={1}
        value={at}
        aria-valuetext={format(drawn)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={({ currentTarget }) => setDrawn(read(currentTarget))}
        onChange={({ currentTarget }) => onSet(read(currentTarget))}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  )
}
