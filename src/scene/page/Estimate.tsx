import './estimate.css'
import { useState } from 'preact/hooks'
import { enteredNumber } from '../../estimate/entered.js'
import type { FleetFaults } from '../../estimate/estimate.js'
import { plain, rounded } from '../../estimate/formats.js'
import { fleetFields } from '../../estimate/inputs.js'
import { linesOf } from '../../estimate/lines.js'
import type { FleetStep } from '../../estimate/steps.js'
import {
  eachFleetName,
  exampleFleet,
  type FleetName,
  fleetInput,
  fleetNames,
  fleetOf,
  readFleet,
} from '../model/fleet.js'
import type { Inputs } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import { Jump } from './Jump.js'
import { useInputs } from './player.js'

type Texts = Readonly<Record<FleetName, string>>

/** The number that a text stands for; undefined for an empty one where a number may be left out. */
function numberOf(name: FleetName, text: string): number | undefined {
  return name === 'servers' && text.trim() === '' ? undefined : enteredNumber(text)
}

function textOf(inputs: Inputs, name: FleetName): string {
  const value = fleetInput(inputs, name)
  return value === undefined ? '' : plain(value)
}

/** What stands in the form, and the inputs that it was made from or last set. */
interface Form {
  readonly texts: Texts
  readonly inputs: Inputs
}

function formOf(inputs: Inputs): Form {
  return { texts: eachFleetName((name) => textOf(inputs, name)), inputs }
}

/**
 * The form's texts, and their effect on the scene: texts that are right set its inputs, and an input that is set
 * elsewhere, by the scene's controls or the address, replaces the texts.
 */
function useForm(player: Player) {
  const inputs = useInputs(player)
  const [form, setForm] = useState(() => formOf(inputs))
  const isSame = fleetNames.every((name) => fleetInput(form.inputs, name) === fleetInput(inputs, name))
  const { texts } = isSame ? form : formOf(inputs)
  const read = (texts: Texts) =>
    readFleet(
      // A text may have fewer digits than the number that it was made from.
      eachFleetName((name) =>
        texts[name] === textOf(inputs, name) ? fleetInput(inputs, name) : numberOf(name, texts[name]),
      ),
    )
  const enter = (name: FleetName, text: string) => {
    const next = { ...texts, [name]: text }
    const result = read(next)
    if ('inputs' in result) player.set(result.inputs)
    setForm({ texts: next, inputs: player.inputs })
  }
  const reset = () => {
    player.set(exampleFleet)
    setForm(formOf(player.inputs))
  }
  return { inputs, texts, result: read(texts), enter, reset }
}

/** The size of a fleet, step by step: the inputs to edit, and the results. The scene shows the same fleet. */
export function Estimate({ player }: { readonly player: Player }) {
  const { inputs, texts, result, enter, reset } = useForm(player)
  const faults = 'faults' in result ? result.faults : {}
  return (
    <section id="estimate" aria-labelledby="estimate-title">
      <h2 id="estimate-title">The estimate</h2>
      <p class="soft estimate-about">
        How many servers a fleet needs, and what happens when one of them slows down.{' '}
        <Jump to="scene">The scene</Jump> runs what you enter here, and the address of this page holds it.
        Numbers are rounded only for display.
      </p>
      <div class="estimate">
        <form class="card estimate-inputs" onSubmit={(event) => event.preventDefault()}>
          <h3>Inputs</h3>
          {fleetNames.map((name) => (
            <Input
              key={name}
              name={name}
              text={texts[name]}
              fault={faults[name]}
              onText={(text) => enter(name, text)}
            />
          ))}
          <button type="button" onClick={reset}>
            Back to the example
          </button>
        </form>
        <div class="card estimate-steps">
          <h3>Results</h3>
          {'inputs' in result ? <Steps inputs={inputs} /> : <Missing faults={faults} />}
        </div>
      </div>
    </section>
  )
}

interface InputProps {
  readonly name: FleetName
  readonly text: string
  readonly fault: string | undefined
  readonly onText: (text: string) => void
}

function Input({ name, text, fault, onText }: InputProps) {
  const { label, unit, hint } = fleetFields[name]
  const id = `estimate-${name}`
  return (
    <div class="estimate-input">
      <label for={id}>{label}</label>
      <span class="estimate-value">
        {/* Not of type number: that gives '' for what it takes for no number, and then what to say? */}
        <input
          id={id}
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={text}
          aria-invalid={fault !== undefined}
          aria-describedby={`${id}-unit ${id}-hint ${id}-fault`}
          onInput={(event) => onText(event.currentTarget.value)}
        />
        <span id={`${id}-unit`} class="soft small">
          {unit}
        </span>
      </span>
      <p id={`${id}-hint`} class="soft small">
        {hint}
      </p>
      {/* Always there: a region that comes with its text is not read out. */}
      <p id={`${id}-fault`} class="error" aria-live="polite">
        {fault !== undefined && `Expected ${fault}.`}
      </p>
    </div>
  )
}

function Missing({ faults }: { readonly faults: FleetFaults }) {
  const wrong = fleetNames.filter((name) => faults[name] !== undefined).map((name) => fleetFields[name].label)
  return <p class="estimate-missing">No result: see {wrong.join(' and ')}.</p>
}

function Steps({ inputs }: { readonly inputs: Inputs }) {
  const { estimate, drawn, total } = fleetOf(inputs)
  return (
    <>
      <ol class="estimate-list">
        {estimate.steps.map((step) => (
          <Step key={step.n} step={step} />
        ))}
      </ol>
      <p class="soft small">
        The scene draws {drawn} of these servers, which get <data value={total}>{rounded(total)}</data>{' '}
        requests/s together.
      </p>
    </>
  )
}

function Step({ step }: { readonly step: FleetStep }) {
  if (step.kind === 'advice') {
    return (
      <li class="estimate-step">
        <p>
          {step.what}: <strong>{step.text}</strong>
        </p>
      </li>
    )
  }
  return (
    <li class="estimate-step" data-step={step.n}>
      <p>{step.what}</p>
      {linesOf(step).map(({ label, formula, numbers, result, value, over }) => (
        <div key={formula} class={over ? 'estimate-line over' : 'estimate-line'}>
          {label !== undefined && <p class="estimate-label">{label}</p>}
          <p class="estimate-formula">
            <span class="soft">{formula}</span> <span>= {numbers}</span>
          </p>
          <p class="estimate-result">
            <span aria-hidden="true">= </span>
            <data value={value}>{result}</data>
          </p>
        </div>
      ))}
      {step.notes.map((note) => (
        <p key={note} class="estimate-note small">
          {note}
        </p>
      ))}
    </li>
  )
}
