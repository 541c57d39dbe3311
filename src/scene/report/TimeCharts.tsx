import { useState } from 'preact/hooks'
import type { PolicyData, ReportData } from '../model/report-data.js'
import { Chart, type Mark } from '../parts/chart.js'
import { type Look, lookOf } from './lines.js'
import { percentText, timeText, unitFor } from './numbers.js'

/** A policy that charts show. */
export interface Drawn {
  readonly policy: PolicyData
  readonly look: Look
}

const HEIGHT = 260

/** Marks of more changes would hide the lines. */
const MOST_MARKS = 8

/** The axis of time that all charts have. */
interface TimeAxis {
  /** Starts of the windows, in a unit that the labels have too. */
  readonly x: readonly number[]
  readonly formatX: (value: number) => string
  readonly marks: readonly Mark[]
}

// All policies have the same windows, but one may have seen a request later than the last of another's.
function timeAxis({ policies, changes }: ReportData): TimeAxis {
  const width = policies[0]?.width ?? 1
  const count = Math.max(0, ...policies.map(({ p99s }) => p99s.length))
  const { ms, name } = unitFor(count * width)
  return {
    x: Array.from({ length: count }, (_, i) => (i * width) / ms),
    formatX: (value) => `${Number(value.toPrecision(4)).toLocaleString('en')} ${name}`,
    // By number: the words are in a list.
    marks: changes.slice(0, MOST_MARKS).map(({ at }, i) => ({ at: at / ms, label: String(i + 1) })),
  }
}

function padded<T>(values: readonly T[], length: number): (T | null)[] {
  return Array.from({ length }, (_, i) => values[i] ?? null)
}

/** What changed, by the numbers in the charts. */
export function Changes({ data: { changes } }: { readonly data: ReportData }) {
  if (changes.length === 0) return null
  return (
    <ol class="small">
      {changes.map(({ at, what }) => (
        <li key={`${at} ${what}`}>
          {timeText(at)}: {what}
        </li>
      ))}
    </ol>
  )
}

/** p99 of the requests of each window, a line a policy. */
export function TailOverTime({
  drawn,
  data,
}: {
  readonly drawn: readonly Drawn[]
  readonly data: ReportData
}) {
  const axis = timeAxis(data)
  const highest = drawn.map(({ policy }) => {
    if (!policy.settled) return `${policy.name} never settles`
    const most = Math.max(...policy.p99s.map((p99) => p99 ?? 0))
    return `${policy.name} at most ${timeText(most)}`
  })
  return (
    <Chart
      title="p99 by window"
      about={`Highest of any window: ${highest.join(', ')}.`}
      {...axis}
      lines={drawn.map(({ policy, look }) => ({
        label: policy.name,
        ...look,
        values: padded(policy.p99s, axis.x.length),
      }))}
      format={timeText}
      scale="log"
      height={HEIGHT}
    />
  )
}

/** Shares of the requests of each window under one policy, a line a server. */
export function SharesOverTime({ data }: { readonly data: ReportData }) {
  const { policies, servers } = data
  const [name, setName] = useState(policies[0]?.name ?? '')
  const policy = policies.find((policy) => policy.name === name)
  if (policy === undefined) return null
  const axis = timeAxis(data)
  const labels = servers.length > 0 ? servers : ['largest share']
  const worst = policy.worst
  return (
    <>
      <p class="choice">
        <label for="policy">Policy</label>
        <select id="policy" value={name} onChange={(event) => setName(event.currentTarget.value)}>
          {policies.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </p>
      <Chart
        title="Share by window"
        about={
          worst === undefined
            ? 'No request was sent.'
            : `The largest share of a window after the warm-up was ${percentText(worst.share)}, of ${worst.server}.`
        }
        {...axis}
        lines={policy.shares.map((shares, i) => ({
          label: labels[i] ?? '',
          ...lookOf(i),
          values: padded(
            shares.map((share) => share && share * 100),
            axis.x.length,
          ),
        }))}
        format={(value) => `${Number(value.toPrecision(3))} %`}
        height={HEIGHT}
      />
    </>
  )
}
