import { useId, useState } from 'preact/hooks'
import { rounded } from '../../estimate/formats.js'
import { count, decimal } from '../../format.js'
import { fleetOf, losingOf } from '../model/fleet.js'
import { type Inputs, isAllowed, type NumberInput, ranges } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import { clockTime, span, titleOf } from '../model/words.js'
import { Knob } from './Knob.js'
import { useInputs } from './player.js'

interface KnobSetting {
  readonly name: Exclude<NumberInput, 'servers'>
  readonly label: (inputs: Inputs) => string
  readonly hint: string
  readonly stops: readonly number[]
  readonly format: (value: number, inputs: Inputs) => string
}

const settings: readonly KnobSetting[] = [
  {
    name: 'traffic',
    label: () => 'Traffic',
    hint: 'as a multiple of the planned peak',
    stops: evenly(0.1, 2, 0.1),
    format: (traffic, inputs) =>
      `× ${decimal(traffic)} = ${rounded(fleetOf({ ...inputs, traffic }).total)} req/s`,
  },
  {
    name: 'reportInterval',
    label: () => 'A report every',
    hint: 'how often each server tells its load',
    stops: [100, 200, 500, 1000, 2000, 3000, 5000, 7000, 10_000, 15_000, 20_000, 30_000],
    format: span,
  },
  {
    name: 'lost',
    label: (inputs) => `CPU that ${titleOf(losingOf(inputs)).toLowerCase()} loses`,
    hint: 'to work that is none of the balancer’s',
    stops: [...evenly(0, 0.9, 0.1), 0.95],
    format: (value) => (value === 0 ? 'none' : `${decimal(value * 100)} %`),
  },
  {
    name: 'lostAt',
    label: () => 'CPU lost at',
    hint: 'minutes and seconds of the run',
    stops: [0, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300].map((seconds) => seconds * 1000),
    format: clockTime,
  },
  {
    name: 'balancers',
    label: () => 'Load balancers',
    hint: 'each knows only what it sends itself',
    stops: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32],
    format: count,
  },
  {
    name: 'threshold',
    label: () => 'Band',
    hint: 'of LeastCpu: percentage points over the lowest CPU',
    stops: [0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50],
    format: (value) => `${decimal(value)} points`,
  },
  {
    name: 'smoothing',
    label: () => 'Smoothing',
    hint: 'of spare capacity: time constant',
    stops: [0, 1000, 2000, 5000, 10_000, 20_000, 30_000, 45_000, 60_000],
    format: (value) => (value === 0 ? 'none' : span(value)),
  },
  {
    name: 'dot',
    label: () => 'A dot stands for',
    hint: 'requests; so does each mark that waits',
    stops: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    format: (value) => (value === 1 ? '1 request' : `${count(value)} requests`),
  },
]

function evenly(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) =>
    Number((from + i * by).toFixed(9)),
  )
}

/** What the visitor sets, beside the policy. */
export function Controls({ player }: { player: Player }) {
  const inputs = useInputs(player)
  return (
    <fieldset class="knobs">
      <legend>What if</legend>
      {settings.map(({ name, label, format, ...knob }) => (
        <Knob
          key={name}
          {...knob}
          label={label(inputs)}
          format={(value) => format(value, inputs)}
          value={inputs[name]}
          onSet={(value) => player.set({ [name]: value })}
        />
      ))}
      <Seed player={player} />
    </fieldset>
  )
}

function Seed({ player }: { player: Player }) {
  const id = useId()
  const { seed } = player.inputs
  const [wrong, setWrong] = useState(false)
  const read = (element: HTMLInputElement) => {
    const value = element.value.trim() === '' ? Number.NaN : Number(element.value)
    setWrong(!isAllowed('seed', value))
    if (isAllowed('seed', value)) player.set({ seed: value })
  }
  return (
    <div class="knob seed">
      <label for={id}>Seed</label>
      <input
        id={id}
        inputMode="numeric"
        autoComplete="off"
        value={seed}
        aria-invalid={wrong}
        aria-describedby={`${id}-hint`}
        onChange={({ currentTarget }) => read(currentTarget)}
      />
      <p id={`${id}-hint`} class="hint">
        {wrong ? `a whole number from 0 to ${ranges.seed.max}` : 'another one draws other requests'}
      </p>
    </div>
  )
}
