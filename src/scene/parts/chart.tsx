import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './chart.css'

/** One line of a chart. */
export interface Line {
  readonly label: string
  /** Name of a custom property of the style sheet, such as `--server-1`, so that the line follows the theme. */
  readonly color: string
  /** Lengths of dashes and gaps, px, so that lines differ by more than colour. Default: an unbroken line. */
  readonly dash?: readonly number[]
  /** One for each of the chart's `x`; null where there is none. */
  readonly values: readonly (number | null)[]
}

/** A moment to mark, such as that of a fault. */
export interface Mark {
  readonly at: number
  readonly label: string
}

interface ChartProps {
  readonly title: string
  /** What the chart shows now, in a sentence or two, for those who cannot see it. */
  readonly about: string
  /** Ascending. */
  readonly x: readonly number[]
  readonly lines: readonly Line[]
  /** A value as text, with its unit. */
  readonly format: (value: number) => string
  /** A value of x as text. Default: seconds. */
  readonly formatX?: (value: number) => string
  /** The least distance of two labels of `format`, where it rounds: 1 for whole numbers. Default: any. Not for a log scale. */
  readonly step?: number
  /** The same of `formatX`. */
  readonly stepX?: number
  /** The least span of x to show. Default: that of the data. */
  readonly leastSpan?: number
  /** Values that the scale reaches at least, where it is linear. Default: 1. */
  readonly leastTop?: number
  /** Default `linear`, from 0. On a `log` scale, values of 0 or less are not drawn. */
  readonly scale?: 'linear' | 'log'
  /** px. Default 180. */
  readonly height?: number
  readonly marks?: readonly Mark[]
}

const FONT = '12px system-ui, sans-serif'

/** Lines over time, with a legend that shows the newest values, or those under the pointer. */
export function Chart(props: ChartProps) {
  const {
    title,
    about,
    x,
    lines,
    format,
    formatX = seconds,
    scale = 'linear',
    height = 180,
    step,
    stepX,
  } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  // What a plot is made of; it is made anew only where this changes.
  const shape = JSON.stringify([
    scale,
    height,
    step,
    stepX,
    lines.map(({ label, color, dash }) => [label, color, dash]),
  ])

  useEffect(() => {
    const element = box.current
    if (!element) return
    const made = new uPlot(optionsFor(latest, element, setPointed), dataOf(latest.current), element)
    plot.current = made
    const stop = [followWidth(made, element, height), followTheme(() => made.redraw())]
    return () => {
      for (const each of stop) each()
      made.destroy()
      plot.current = undefined
    }
  }, [shape])

  useEffect(() => {
    plot.current?.setData(dataOf(latest.current))
  }, [x, x.length, lines])

  const shown = pointed !== undefined && pointed < x.length ? pointed : x.length - 1
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-moment">{shown < 0 ? '' : formatX(x[shown] ?? 0)}</span>
      </figcaption>
      <div ref={box} role="img" aria-label={`${title}. ${about}`} class="chart-plot" />
      <ul class="chart-legend">
        {lines.map(({ label, color, dash, values }) => (
          <li key={label}>
            <svg width="22" height="8" aria-hidden="true">
              <line
                x1="1"
                x2="21"
                y1="4"
                y2="4"
                stroke={`var(${color})`}
                stroke-width="2.5"
                stroke-dasharray={dash?.join(' ')}
              />
            </svg>
            <span>{label}</span> <b>{textOf(values[shown], format)}</b>
          </li>
        ))}
      </ul>
    </figure>
  )
}

/**
 * Distances that the labels of an axis may have: 1, 2 or 5 times a power of ten, and multiples of `step`. A label is then
 * exact: rounded, it would stand beside another place than it says, and might repeat.
 */
function distances(step: number | undefined): number[] {
  const all = Array.from({ length: 20 }, (_, i) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${i - 6}`)),
  ).flat()
  return step === undefined ? all : all.filter((distance) => Number.isInteger(distance / step))
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

function seconds(value: number): string {
  return `${value.toLocaleString('en')} s`
}

function dataOf({ x, lines, scale }: ChartProps): uPlot.AlignedData {
  const drawn = lines.map(({ values }) =>
    scale === 'log' ? values.map((value) => (value !== null && value > 0 ? value : null)) : [...values],
  )
  return [[...x], ...drawn]
}

function optionsFor(
  latest: { readonly current: ChartProps },
  element: HTMLElement,
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  const { lines, scale, height = 180, step, stepX } = latest.current
  const isLog = scale === 'log'
  const axis: uPlot.Axis = {
    font: FONT,
    stroke: () => colorOf(element, '--chart-text'),
    grid: { stroke: () => colorOf(element, '--chart-grid'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: Math.max(element.clientWidth, 100),
    height,
    legend: { show: false },
    // The page can be scrolled by dragging over a chart; there is no zoom.
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: {
      x: { time: false, range: (_, from, to) => spanOf(from, to, latest.current.leastSpan) },
      y: isLog
        ? { distr: 3, range: (_, from, to) => logRange(from, to) }
        : { range: (_, __, to) => [0, Math.max(to ?? 0, latest.current.leastTop ?? 1) * 1.1] },
    },
    axes: [
      {
        ...axis,
        incrs: distances(stepX),
        size: 26,
        values: (_, splits) => splits.map(latest.current.formatX ?? seconds),
      },
      {
        ...axis,
        ...(!isLog && { incrs: distances(step) }),
        grid: { ...axis.grid, filter: (_, splits) => (isLog ? splits.map(powerOfTen) : splits) },
        size: 62,
        // On a log scale uPlot gives null for the splits that are to have no label.
        values: (_, splits) =>
          splits.map((value: number | null) => (value === null ? '' : latest.current.format(value))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color, dash }) => ({
        label,
        stroke: () => colorOf(element, color),
        width: 2,
        points: { show: false },
        ...(dash && { dash: [...dash] }),
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
      draw: [(plot) => drawMarks(plot, element, latest.current.marks ?? [])],
    },
  }
}

function powerOfTen(value: number): number | null {
  return Number.isInteger(Math.log10(value)) ? value : null
}

function spanOf(from: number | null, to: number | null, least = 0): [number, number] {
  const start = from ?? 0
  return [start, Math.max(to ?? start, start + Math.max(least, 1))]
}

function logRange(from: number | null, to: number | null): [number, number] {
  if (from === null || to === null) return [1, 10]
  return [10 ** Math.floor(Math.log10(from)), 10 ** Math.ceil(Math.log10(to * 1.01))]
}

function drawMarks(plot: uPlot, element: HTMLElement, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  const color = colorOf(element, '--chart-mark')
  ctx.fillStyle = color
  ctx.font = `${11 * ratio}px system-ui, sans-serif`
  for (const { at, label } of marks) {
    const { min = 0, max = 0 } = plot.scales.x ?? {}
    if (at < (min ?? 0) || at > (max ?? 0)) continue
    const left = Math.round(plot.valToPos(at, 'x', true))
    ctx.strokeStyle = color
    ctx.lineWidth = ratio
    ctx.setLineDash([4 * ratio, 3 * ratio])
    ctx.beginPath()
    ctx.moveTo(left, bbox.top)
    ctx.lineTo(left, bbox.top + bbox.height)
    ctx.stroke()
    const isRight = left > bbox.left + bbox.width / 2
    ctx.textAlign = isRight ? 'right' : 'left'
    ctx.strokeStyle = colorOf(element, '--paper')
    ctx.lineWidth = 4 * ratio
    ctx.setLineDash([])
    ctx.strokeText(label, left + (isRight ? -5 : 5) * ratio, bbox.top + 11 * ratio)
    ctx.fillText(label, left + (isRight ? -5 : 5) * ratio, bbox.top + 11 * ratio)
  }
  ctx.restore()
}

/** A custom property's value where the element stands. */
export function colorOf(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim() || '#888'
}

function followWidth(plot: uPlot, element: HTMLElement, height: number): () => void {
  const observer = new ResizeObserver(() => {
    const width = element.clientWidth
    if (width > 0 && width !== plot.width) plot.setSize({ width, height })
  })
  observer.observe(element)
  return () => observer.disconnect()
}

/** Tells when colours may have changed: by the system's setting, or by the page's own. Returns what stops it. */
export function followTheme(onChange: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', onChange)
  const observer = new MutationObserver(onChange)
  observer.observe(document.documentElement, { attributeFilter: ['class', 'data-theme', 'style'] })
  return () => {
    dark.removeEventListener('change', onChange)
    observer.disconnect()
  }
}
