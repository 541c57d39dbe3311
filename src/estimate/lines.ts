import { percent, rounded } from './formats.js'
import type { FleetStep, ValueStep } from './steps.js'

/** A result of a step, as people read it. */
export interface FleetLine {
  /** Which of a step's results; undefined where there is one. */
  readonly label: string | undefined
  readonly formula: string
  readonly numbers: string
  /** Rounded, with its unit. */
  readonly result: string
  /** Not rounded. */
  readonly value: number
  /** Whether it is a load of more than a server can do. */
  readonly over: boolean
}

const UNITS: Readonly<Record<ValueStep['unit'], (value: number) => string>> = {
  'requests/s': (value) => `${rounded(value)} requests/s`,
  requests: (value) => `${rounded(value)} requests`,
  servers: (value) => value.toLocaleString('en-US'),
  share: percent,
}

const signs = (formula: string): string => formula.replaceAll('*', '×').replaceAll(' - ', ' − ')

/** The results of a step; the advice has none. */
export function linesOf(step: FleetStep): FleetLine[] {
  if (step.kind === 'advice') return []
  if (step.kind === 'value') {
    const { formula, numbers, value, unit } = step
    const over = unit === 'share' && value > 1
    const result = UNITS[unit](value)
    return [{ label: undefined, formula: signs(formula), numbers: signs(numbers), result, value, over }]
  }
  const labels = {
    equalShare: 'by equal share (round robin), that server',
    bySpareCapacity: 'by spare capacity, every server',
  }
  return (['equalShare', 'bySpareCapacity'] as const).map((name) => ({
    label: labels[name],
    formula: signs(step.formula[name]),
    numbers: signs(step.numbers[name]),
    result: percent(step[name]),
    value: step[name],
    over: step[name] > 1,
  }))
}
