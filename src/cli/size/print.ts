import type { FleetEstimate } from '../../estimate/estimate.js'
import { inFormula, percent, plain, rounded } from '../../estimate/formats.js'
import { type FleetInputs, fleetFields } from '../../estimate/inputs.js'
import { linesOf } from '../../estimate/lines.js'
import type { Figure, MeasuredFleet } from '../../estimate/measured.js'
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
    const source = sources[name] ?? 'default'
    return [[label, source === 'measured' ? inFormula(value) : plain(value), unit, source]]
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

/** What a live balancer told, and what of it could not be used. */
export function measuredText(url: string, measured: MeasuredFleet, unused: readonly string[]): string {
  const { members, servers, traffic, load, capacity, reportInterval } = measured
  const row = (label: string, figure: Figure | undefined, text: (value: number) => string): string[] =>
    figure === undefined ? [label, '-', 'not told'] : [label, text(figure.value), figure.from]
  const rows = [
    ['servers that take work', plain(servers), `of ${plain(members)}, up and not ejected`],
    row('traffic', traffic, (value) => `${rounded(value)} requests/s`),
    row('mean load', load, percent),
    row('capacity of a server', capacity, (value) => `${rounded(value)} requests/s`),
    row('report interval', reportInterval, (value) => `${plain(value)} s`),
  ]
  const notes = unused.map((what) => ` not used: ${what}\n`)
  return `measured at ${url}\n${columns(rows)}${notes.join('')}`
}
