import './estimate.css'
import { useMemo, useState } from 'preact/hooks'
import { enteredNumber } from '../../estimate/entered.js'
import { type FleetEstimate, type FleetFaults, tryFleet } from '../../estimate/estimate.js'
import { plain, rounded } from '../../estimate/formats.js'
import { FLEET_DEFAULTS, fleetFields } from '../../estimate/inputs.js'
import { linesOf } from '../../estimate/lines.js'
import type { FleetStep } from '../../estimate/steps.js'

type Name = keyof typeof FLEET_DEFAULTS
type Texts = Readonly<Record<Name, string>>

const names = Object.keys(FLEET_DEFAULTS) as Name[]

function each<T>(make: (name: Name) => T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>
}

const defaults: Texts = each((name) => plain(FLEET_DEFAULTS[name]))

/** The size of a fleet, step by step: inputs to edit, and what comes of them. */
export function Estimate() {
  const [texts, setTexts] = useState<Texts>(defaults)
  const result = useMemo(() => tryFleet(each((name) => enteredNumber(texts[name]))), [texts])
  const faults = 'faults' in result ? result.faults : {}
  return (
    <section id="estimate" aria-labelledby="estimate-title">
      <h2 id="estimate-title">The estimate</h2>
      <p class="soft estimate-about">
        How many servers a fleet needs, and what one that slows does to it. Numbers are rounded where they are
        shown, and nowhere else.
      </p>
      <div class="estimate">
        <form class="card estimate-inputs" onSubmit={(event) => event.preventDefault()}>
          <h3>What it starts from</h3>
          {names.map((name) => (
            <Input
              key={name}
              name={name}
              text={texts[name]}
              fault={faults[name]}
              onText={(text) => setTexts({ ...texts, [name]: text })}
            />
          ))}
          <button type="button" onClick={() => setTexts(defaults)}>
            Back to the example
          </button>
        </form>
        <div class="card estimate-steps">
          <h3>What comes of it</h3>
          {'estimate' in result ? <Steps estimate={result.estimate} /> : <Missing faults={faults} />}
        </div>
      </div>
    </section>
  )
}

interface InputProps {
  readonly name: Name
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
  const wrong = names.filter((name) => faults[name] !== undefined).map((name) => fleetFields[name].label)
  return <p class="estimate-missing">No result: see {wrong.join(' and ')}.</p>
}

function Steps({ estimate }: { readonly estimate: FleetEstimate }) {
  const { steps, perServer, servers } = estimate
  return (
    <>
      <ol class="estimate-list">
        {steps.map((step) => (
          <Step key={step.n} step={step} />
        ))}
      </ol>
      {servers >= 4 && (
        <p class="soft small">
          Four of these servers get <data value={4 * perServer}>{rounded(4 * perServer)}</data> requests/s.
          The scene starts with what four get in the example.
        </p>
      )}
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
