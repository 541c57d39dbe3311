import { count, percent } from '../../format.js'
import { CAPACITY } from '../model/inputs.js'
import type { ServerPlace } from '../model/layout.js'
import type { SceneServer } from '../model/run.js'
import { lastTold, titleOf } from '../model/words.js'

interface ServerCardProps {
  readonly server: SceneServer
  readonly index: number
  readonly place: ServerPlace
  readonly narrow: boolean
  /** The last request went there. */
  readonly isLast: boolean
  /** What is told instead of moving dots. */
  readonly still: boolean
}

/** Width of a card in which all words have room, px. */
const WIDE = 290
const BAR = { y: 30, height: 24 }
const GAUGE = { y: 65, height: 7 }

/** One server: how busy it is, what it last told, and what waits for it. */
export function ServerCard({ server, index, place, narrow, isLast, still }: ServerCardProps) {
  const { x, y, width, height } = place.card
  const inset = narrow ? 10 : 14
  const barWidth = width - inset - (narrow ? 54 : 86)
  const gaugeWidth = width - inset * 2
  const { busy, cpu, reported, lost, queue, share, sent } = server
  const told = lastTold(server)
  return (
    <g class={isLast ? 'server last' : 'server'} style={{ '--own': `var(--server-${index + 1})` }}>
      <g transform={`translate(${x} ${y})`}>
        <rect class="panel" width={width} height={height} rx="10" />
        <rect class="strip" y="12" width="4" height={height - 24} rx="2" x="-2" />
        <text class="name" x={inset} y="20">
          {titleOf(index)}
        </text>
        {lost > 0 && <Lost lost={lost} x={narrow ? width - 8 : inset + 68} narrow={narrow} />}
        {!(narrow && lost > 0) && (
          <text class="figure end" x={width - inset} y="20">
            {percent(share * 100)}
            {narrow || (lost > 0 && width < WIDE) ? '' : ' of requests'}
          </text>
        )}

        <Fill x={inset} {...BAR} width={barWidth} radius={5} part={busy} kind="busy" />
        <text class="busy-figure" x={inset + barWidth + 8} y={BAR.y + 17}>
          {percent(busy * 100)}
          {!narrow && <tspan class="figure"> busy</tspan>}
        </text>

        <Fill x={inset} {...GAUGE} width={gaugeWidth} radius={3.5} part={(reported ?? 0) / 100} kind="told" />
        <path
          class="now"
          d="M0 -3V10"
          style={{ transform: `translate(${inset + (gaugeWidth * cpu) / 100}px, ${GAUGE.y}px)` }}
        />
        <text class="figure" x={inset} y="88">
          {reported === undefined ? told : `${narrow ? 'told' : 'last told CPU'} ${told}`}
        </text>
      </g>
      {queue > 0 && (
        <text class={queue >= CAPACITY ? 'waiting end many' : 'waiting end'} x={x - 8} y={y + height - 5}>
          {count(queue)}
          {narrow ? '' : ' waiting'}
        </text>
      )}
      {still && (
        <text class="waiting end" x={x - 8} y={y + 11}>
          {count(sent)}
          {narrow ? '' : ' sent'}
        </text>
      )}
    </g>
  )
}

interface FillProps {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly radius: number
  readonly part: number
  readonly kind: string
}

// Moved by a transform, so that the style sheet can let it glide; cut by the track, so that its ends stay round.
function Fill({ x, y, width, height, radius, part, kind }: FillProps) {
  const clip = `inset(0 round ${radius}px)`
  return (
    <g class={kind} transform={`translate(${x} ${y})`}>
      <rect class="track" width={width} height={height} rx={radius} />
      <g style={{ clipPath: clip }}>
        <rect width={width} height={height} fill="none" />
        <rect
          class="fill"
          width={width}
          height={height}
          style={{ transform: `scaleX(${Math.min(Math.max(part, 0), 1)})` }}
        />
      </g>
    </g>
  )
}

function Lost({ lost, x, narrow }: { lost: number; x: number; narrow: boolean }) {
  const width = narrow ? 50 : 82
  return (
    <g class="lost" transform={`translate(${narrow ? x - width : x} 6)`}>
      <rect width={width} height="19" rx="9.5" />
      <text x={width / 2} y="14">
        −{percent(lost * 100)}
        {narrow ? '' : ' CPU'}
      </text>
    </g>
  )
}
