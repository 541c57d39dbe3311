import { Chart } from '../parts/chart.js'
import { timeText } from './numbers.js'
import type { Drawn } from './TimeCharts.js'

/** Shorter times than those of the first part of the requests are left out: they would take half of the chart. */
const LEFT_OUT = 0.002

/** The share of requests that took no longer than a time, over the times of all policies; times by their logarithm. */
export function Distribution({ drawn }: { readonly drawn: readonly Drawn[] }) {
  const first = Math.min(...drawn.map(({ policy }) => firstShown(policy.bars)))
  const bounds = [
    ...new Set(drawn.flatMap(({ policy }) => policy.bars.flatMap(({ from, to }) => [from, to]))),
  ]
    .filter((bound) => bound >= first)
    .sort((a, b) => a - b)
  return (
    <Chart
      title="Answered within"
      about={drawn
        .map(({ policy }) =>
          policy.settled
            ? `${policy.name}: half within ${timeText(policy.p50)}, 99 % within ${timeText(policy.p99)}.`
            : `${policy.name} never settles.`,
        )
        .join(' ')}
      x={bounds.map(Math.log10)}
      lines={drawn.map(({ policy, look }) => ({
        label: policy.name,
        ...look,
        values: within(policy.bars, bounds),
      }))}
      format={(value) => `${Number(value.toPrecision(4))} %`}
      formatX={(value) => timeText(10 ** value)}
      height={260}
    />
  )
}

type Bars = Drawn['policy']['bars']

function firstShown(bars: Bars): number {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  let sum = 0
  for (const { from, count } of bars) {
    sum += count
    if (sum > LEFT_OUT * total) return from
  }
  return 0
}

/** Percent of all that is in bars up to each bound. */
function within(bars: Bars, bounds: readonly number[]): (number | null)[] {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  let next = 0
  let sum = 0
  return bounds.map((bound) => {
    for (let bar = bars[next]; bar !== undefined && bar.to <= bound; bar = bars[++next]) sum += bar.count
    return total === 0 ? null : (sum / total) * 100
  })
}
