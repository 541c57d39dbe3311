import { count, percent } from '../../format.js'
import type { ServerPlace } from '../model/layout.js'
import type { SceneServer } from '../model/run.js'
import { lastTold, titleOf } from '../model/words.js'
import { Words } from './Words.js'

interface ServerCardProps {
  readonly server: SceneServer
  readonly index: number
  readonly place: ServerPlace
  readonly narrow: boolean
  /** Requests per second that it can do: from as many waiting on, the number stands out. */
  readonly capacity: number
  /** The last request went there. */
  readonly isLast: boolean
  /** What is told instead of moving dots. */
  readonly still: boolean
}

const BAR = { y: 30, height: 24 }
const GAUGE = { y: 65, height: 7 }

/** Widths of what stands in a card beside what takes the rest, px. */
const SIZES = {
  narrow: { inset: 10, percent: 48, busy: 0, lost: 50 },
  wide: { inset: 14, percent: 52, busy: 36, lost: 84 },
}
const NAME = 72
const GAP = 8

/** One server: how busy it is, what it last told, and what waits for it. */
export function ServerCard({ server, index, place, narrow, capacity, isLast, still }: ServerCardProps) {
  const { x, y, width, height } = place.card
  const sizes = narrow ? SIZES.narrow : SIZES.wide
  const { inset } = sizes
  const inner = width - inset * 2
  const barWidth = inner - GAP - sizes.percent - sizes.busy
  const { busy, cpu, reported, lost, queue, share, sent } = server
  const told = lastTold(server)
  const beside = inner - NAME - GAP - (lost > 0 ? sizes.lost + GAP : 0)
  return (
    <g class={isLast ? 'server last' : 'server'} style={{ '--own': `var(--server-${index + 1})` }}>
      <g transform={`translate(${x} ${y})`}>
        <rect class="panel" width={width} height={height} rx="10" />
        <rect class="strip" y="12" width="4" height={height - 24} rx="2" x="-2" />
        <Words class="name" choices={[titleOf(index)]} room={NAME} x={inset} y={20} />
        {lost > 0 && (
          <Lost
            lost={lost}
            x={narrow ? width - inset - sizes.lost : inset + NAME + GAP}
            width={sizes.lost}
            narrow={narrow}
          />
        )}
        {!(narrow && lost > 0) && (
          <Words
            class="figure end"
            choices={[`${percent(share * 100)} of requests`, percent(share * 100)].slice(narrow ? 1 : 0)}
            room={beside}
            x={width - inset}
            y={20}
          />
        )}

        <Fill x={inset} {...BAR} width={barWidth} radius={5} part={busy} kind="busy" />
        <Words
          class="busy-figure end"
          choices={[percent(busy * 100)]}
          room={sizes.percent}
          x={inset + barWidth + GAP + sizes.percent}
          y={BAR.y + 17}
        />
        {!narrow && (
          <Words
            class="figure end"
            choices={['busy']}
            room={sizes.busy - 4}
            x={width - inset}
            y={BAR.y + 17}
          />
        )}

        <Fill x={inset} {...GAUGE} width={inner} radius={3.5} part={(reported ?? 0) / 100} kind="told" />
        <path
          class="now"
          d="M0 -3V10"
          style={{ transform: `translate(${inset + (inner * cpu) / 100}px, ${GAUGE.y}px)` }}
        />
        <Words
          class="figure"
          choices={reported === undefined ? [told] : [`last told CPU ${told}`, `told ${told}`, told]}
          room={inner}
          x={inset}
          y={88}
        />
      </g>
      {queue > 0 && (
        <Words
          class={queue >= capacity ? 'waiting end many' : 'waiting end'}
          choices={[`${count(queue)} waiting`, count(queue)]}
          room={place.waiting.width}
          x={x - 8}
          y={y + height - 5}
        />
      )}
      {still && (
        <Words
          class="waiting end"
          choices={[`${count(sent)} sent`, count(sent)]}
          room={place.waiting.width}
          x={x - 8}
          y={y + 11}
        />
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

interface LostProps {
  readonly lost: number
  readonly x: number
  readonly width: number
  readonly narrow: boolean
}

function Lost({ lost, x, width, narrow }: LostProps) {
  const part = `−${percent(lost * 100)}`
  return (
    <g class="lost" transform={`translate(${x} 6)`}>
      <rect width={width} height="19" rx="9.5" />
      <Words
        class="part"
        choices={narrow ? [part] : [`${part} CPU`, part]}
        room={width - 10}
        x={width / 2}
        y={14}
      />
    </g>
  )
}
