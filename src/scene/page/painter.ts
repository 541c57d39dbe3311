import type { Flights } from '../model/flights.js'
import { type Layout, markQueue, pointOf, type ServerPlace } from '../model/layout.js'
import type { SceneRun } from '../model/run.js'
import { colorOf } from '../parts/chart.js'

/** Time on the screen that a report takes from its server to the balancer, ms. */
const REPORT_TIME = 600
/** Time on the screen between two reports of a server that are drawn, ms. */
const BETWEEN_REPORTS = 300

interface Sprite {
  readonly image: HTMLCanvasElement
  readonly half: number
}

/** A report on its way to the balancer. */
interface ReportFlight {
  readonly server: number
  progress: number
}

/** Paints what moves: dots, the marks of those that wait, and reports. */
export class Painter {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D
  #layout: Layout | undefined
  #ratio = 1
  #colors: string[] = []
  #sprites: Sprite[] = []
  #plain: Sprite | undefined
  #reports: ReportFlight[] = []
  // By server: age of the report when last seen, and the time since one was drawn.
  readonly #ages: (number | undefined)[] = []
  readonly #since: number[] = []

  constructor(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D) {
    this.#canvas = canvas
    this.#context = context
  }

  /** Fits the canvas to a layout, and takes the theme's colours. */
  fit(layout: Layout): void {
    const ratio = Math.min(devicePixelRatio, 2)
    const width = Math.round(layout.width * ratio)
    const height = Math.round(layout.height * ratio)
    if (this.#canvas.width !== width) this.#canvas.width = width
    if (this.#canvas.height !== height) this.#canvas.height = height
    this.#layout = layout
    this.#ratio = ratio
    const rim = colorOf(this.#canvas, '--surface')
    this.#colors = layout.servers.map((_, i) => colorOf(this.#canvas, `--server-${i + 1}`))
    this.#sprites = this.#colors.map((color) => sprite(color, rim, layout.dot, ratio))
    this.#plain = sprite(colorOf(this.#canvas, '--ink-soft'), rim, layout.dot, ratio)
  }

  /** Forgets the reports that are under way. */
  clear(): void {
    this.#reports = []
    this.#ages.length = 0
  }

  /** Moves reports on, and sends off those that have come since the last frame. */
  moveReports(run: SceneRun, elapsed: number): void {
    let kept = 0
    for (const report of this.#reports) {
      report.progress += elapsed / REPORT_TIME
      if (report.progress < 1) this.#reports[kept++] = report
    }
    this.#reports.length = kept
    for (const [server, { reportAge }] of run.servers.entries()) {
      const before = this.#ages[server]
      this.#ages[server] = reportAge
      const since = (this.#since[server] ?? BETWEEN_REPORTS) + elapsed
      this.#since[server] = since
      const isNew = reportAge !== undefined && (before === undefined || reportAge < before)
      if (!isNew || since < BETWEEN_REPORTS) continue
      this.#since[server] = 0
      this.#reports.push({ server, progress: 0 })
    }
  }

  paint(run: SceneRun, flights: Flights, perDot: number): void {
    const layout = this.#layout
    if (layout === undefined) return
    const context = this.#context
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0)
    context.clearRect(0, 0, layout.width, layout.height)
    for (const [i, { queue }] of run.servers.entries()) {
      const place = layout.servers[i]
      if (place !== undefined) this.#paintQueue(place, i, layout.dot, queue / perDot)
    }
    for (const report of this.#reports) this.#paintReport(layout, report)
    for (const { server, balancer, progress, lane } of flights.list) {
      const { x, y } = pointOf(layout, server, balancer, progress, lane)
      this.#stamp(x < layout.balancers.x ? this.#plain : this.#sprites[server], x, y)
    }
  }

  #paintQueue(place: ServerPlace, server: number, radius: number, marks: number): void {
    const context = this.#context
    markQueue(place, radius, marks, (x, y, size) => {
      if (size === radius) this.#stamp(this.#sprites[server], x, y)
      else {
        context.fillStyle = this.#colors[server] ?? ''
        context.beginPath()
        context.arc(x, y, size, 0, Math.PI * 2)
        context.fill()
      }
    })
  }

  // A hollow diamond, against the stream and beside it.
  #paintReport(layout: Layout, { server, progress }: ReportFlight): void {
    const context = this.#context
    const { x, y } = pointOf(layout, server, 0, 1 - progress * 0.75, 0)
    if (x < layout.balancers.x + layout.balancers.width) return
    const size = layout.dot + 1.5
    context.strokeStyle = this.#colors[server] ?? ''
    context.lineWidth = 1.5
    context.beginPath()
    context.moveTo(x, y - size)
    context.lineTo(x + size, y)
    context.lineTo(x, y + size)
    context.lineTo(x - size, y)
    context.closePath()
    context.stroke()
  }

  #stamp(drawn: Sprite | undefined, x: number, y: number): void {
    if (drawn === undefined) return
    const size = drawn.half * 2
    this.#context.drawImage(drawn.image, x - drawn.half, y - drawn.half, size, size)
  }
}

function sprite(color: string, rim: string, radius: number, ratio: number): Sprite {
  const half = Math.ceil(radius + 2)
  const image = document.createElement('canvas')
  image.width = image.height = Math.ceil(half * 2 * ratio)
  const context = image.getContext('2d')
  if (context === null) return { image, half }
  context.scale(ratio, ratio)
  context.arc(half, half, radius + 0.5, 0, Math.PI * 2)
  context.fillStyle = color
  context.strokeStyle = rim
  context.lineWidth = 1
  context.fill()
  context.stroke()
  return { image, half }
}
