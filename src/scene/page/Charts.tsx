import { useMemo } from 'preact/hooks'
import { count, milliseconds } from '../../format.js'
import { losingOf } from '../model/fleet.js'
import { scenePolicies } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import type { SceneRun } from '../model/run.js'
import { titleOf } from '../model/words.js'
import { Chart, type Line, type Mark } from '../parts/chart.js'
import { useInputs, usePlayed } from './player.js'

// Lines differ by more than their colours.
const dashes: readonly (readonly number[] | undefined)[] = [undefined, [8, 4], [2, 3], [10, 3, 2, 3]]
/** Seconds that a chart shows at least. */
const LEAST_SPAN = 60

/** p99 and queues over time. */
export function Charts({ player }: { player: Player }) {
  const inputs = useInputs(player)
  const runs = usePlayed(player, () => player.runs)
  usePlayed(player, () => player.runs[0]?.windows.length)
  const marks = useMemo<Mark[]>(
    () =>
      inputs.lost === 0
        ? []
        : [{ at: inputs.lostAt / 1000, label: `${titleOf(losingOf(inputs)).toLowerCase()} loses CPU` }],
    [inputs],
  )
  // One scale for all runs, so that they can be compared.
  const longest = runs.reduce((most, run) => Math.max(most, longestQueue(run)), 0)
  return (
    <div class={runs.length > 1 ? 'charts two' : 'charts'}>
      <P99Chart runs={runs} marks={marks} />
      {runs.map((run, which) => (
        <QueueChart key={which} run={run} marks={marks} alone={runs.length === 1} top={longest} />
      ))}
    </div>
  )
}

function P99Chart({ runs, marks }: { runs: readonly SceneRun[]; marks: readonly Mark[] }) {
  const seconds = runs[0]?.windows.length ?? 0
  // The windows grow in place.
  const { x, lines } = useMemo(
    () => ({
      x: starts(runs[0]),
      lines: runs.map<Line>(({ policy, windows }, i) => ({
        label: scenePolicies[policy].title,
        color: `--run-${i + 1}`,
        dash: dashes[i],
        values: windows.map(({ p99 }) => p99 ?? null),
      })),
    }),
    [runs, seconds],
  )
  const now = runs.map(
    ({ policy, windows }) => `${scenePolicies[policy].title}: ${milliseconds(windows.at(-1)?.p99)}`,
  )
  return (
    <Chart
      title="99 of 100 responses within"
      about={`Each second’s, up to ${seconds} s. Last: ${now.join('; ')}.`}
      {...{ x, lines, marks }}
      scale="log"
      format={milliseconds}
      leastSpan={LEAST_SPAN}
    />
  )
}

interface QueueChartProps {
  readonly run: SceneRun
  readonly marks: readonly Mark[]
  readonly alone: boolean
  /** The scale goes up to this at least. */
  readonly top: number
}

function QueueChart({ run, marks, alone, top }: QueueChartProps) {
  const seconds = run.windows.length
  // The windows grow in place.
  const { x, lines } = useMemo(
    () => ({
      x: starts(run),
      lines: run.servers.map<Line>((_, i) => ({
        label: titleOf(i),
        color: `--server-${i + 1}`,
        dash: dashes[i % dashes.length],
        values: run.windows.map(({ queue }) => queue[i] ?? null),
      })),
    }),
    [run, seconds],
  )
  const now = run.servers.map(({ queue }, i) => `${titleOf(i)} ${count(queue)}`)
  return (
    <Chart
      title={alone ? 'Requests waiting' : `Requests waiting: ${scenePolicies[run.policy].title}`}
      about={`At each second’s end. Now: ${now.join(', ')}.`}
      {...{ x, lines, marks }}
      format={count}
      step={1}
      leastTop={Math.max(top, 1)}
      leastSpan={LEAST_SPAN}
    />
  )
}

function longestQueue({ windows }: SceneRun): number {
  return windows.reduce((most, { queue }) => Math.max(most, ...queue), 0)
}

function starts(run: SceneRun | undefined): number[] {
  return run?.windows.map(({ start }) => start / 1000 + 1) ?? []
}
