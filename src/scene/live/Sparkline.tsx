const WIDTH = 72
const HEIGHT = 20
const MOMENTS = 60

interface SparklineProps {
  readonly values: readonly (number | null)[]
  /** What reaches to the top. Default: the largest. */
  readonly most?: number
}

/** The last minute or so, at a glance; what it shows stands beside it as a number. */
export function Sparkline({ values, most }: SparklineProps) {
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <path d={pathOf(values.slice(-MOMENTS), most)} />
    </svg>
  )
}

function pathOf(values: readonly (number | null)[], most: number | undefined): string {
  const top = Math.max(most ?? Math.max(...values.map((value) => value ?? 0)), 1e-9)
  const start = MOMENTS - values.length
  let path = ''
  let isDown = false
  for (const [i, value] of values.entries()) {
    if (value !== null) {
      const x = ((start + i) / (MOMENTS - 1)) * WIDTH
      const y = HEIGHT - 1 - Math.min(value / top, 1) * (HEIGHT - 2)
      path += `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
    }
    isDown = value !== null
  }
  return path
}
