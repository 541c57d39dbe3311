import type { FleetEstimate } from '../../estimate/estimate.js'
import { exact } from '../../estimate/formats.js'
import { type FleetInputs, fleetFields } from '../../estimate/inputs.js'
import { linesOf } from '../../estimate/lines.js'
import type { FleetStep } from '../../estimate/steps.js'

/** Where an input comes from. */
export type Source = 'default' | 'flag' | 'measured'

/** The inputs of an estimate that come from somewhere. */
export type Sources = { readonly [K in keyof FleetInputs]?: Source }

/** Columns of which all but the last are padded, each line indented by a space. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length)
    })
  return rows
    .map(
      (row) =>
        ` ${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function inputsText(inputs: Readonly<FleetInputs>, sources: Sources): string {
  const names = Object.keys(fleetFields) as (keyof FleetInputs)[]
  const rows = names.flatMap((name) => {
    const value = inputs[name]
    if (value === undefined) return []
    const { label, unit } = fleetFields[name]
    return [[label, exact(value), unit, sources[name] ?? 'default']]
  })
  return columns(rows)
}

function stepText(step: FleetStep): string {
  if (step.kind === 'advice') return `${step.n}. ${step.what}: ${step.text}\n`
  const lines = linesOf(step).map(({ label, formula, numbers, result }) => {
    const what = label === undefined ? '' : `   ${label}: ${result}\n`
    return `${what}   ${formula} = ${numbers}\n`
  })
  const [first] = linesOf(step)
  const head = step.kind === 'value' ? `: ${first?.result}` : ''
  const notes = step.notes.map((note) => `   → ${note}\n`)
  return `${step.n}. ${step.what}${head}\n${[...lines, ...notes].join('')}`
}

/** An estimate for a terminal. */
export function estimateText({ inputs, steps }: FleetEstimate, sources: Sources): string {
  return `${inputsText(inputs, sources)}\n${steps.map(stepText).join('')}`
}
