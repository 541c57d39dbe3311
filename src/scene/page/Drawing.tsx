import './drawing.css'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { rounded } from '../../estimate/formats.js'
import { fleetOf } from '../model/fleet.js'
import { Flights, flightTime } from '../model/flights.js'
import { scenePolicies } from '../model/inputs.js'
import {
  type Box,
  type Layout,
  LEAST_WIDTH,
  layOut,
  TOP,
  trunkPath,
  USERS,
  wayPath,
} from '../model/layout.js'
import type { Player } from '../model/player.js'
import type { SceneRun } from '../model/run.js'
import { titleOf } from '../model/words.js'
import { followTheme } from '../parts/chart.js'
import { Painter } from './painter.js'
import { useStillness, useTicks } from './player.js'
import { ServerCard } from './ServerCard.js'
import { Words } from './Words.js'

interface DrawingProps {
  readonly player: Player
  /** Which of the player's runs. */
  readonly which: number
}

/** Users, balancers and servers, and the requests between them. */
export function Drawing({ player, which }: DrawingProps) {
  useTicks(player)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const still = useStillness()
  const { balancers } = player.inputs
  const run = player.runs[which]
  const count = run?.servers.length ?? 0
  const { capacity, total, scale } = fleetOf(player.inputs)
  const layout = useMemo(() => layOut(width, balancers, count), [width, balancers, count])
  const canvas = usePainting(player, which, layout, still)
  if (run === undefined) return null
  const { title } = scenePolicies[run.policy]
  const text = `${title}: requests go from users through ${balancers === 1 ? 'a load balancer' : `${balancers} load balancers`} to ${count === 1 ? 'one server' : `${count} servers`}. Their figures are in the table “Figures of the servers”.`
  return (
    <div class="drawing" ref={box} style={{ height: `${layout.height}px`, minWidth: `${LEAST_WIDTH}px` }}>
      <svg width={layout.width} height={layout.height} role="img" aria-label={text}>
        <Headings layout={layout} balancers={balancers} />
        <Ways layout={layout} run={run} />
        <Users layout={layout} rate={total * scale} />
        <Balancers layout={layout} run={run} />
        {layout.servers.map((place, i) => {
          const server = run.servers[i]
          return (
            server && (
              <ServerCard
                key={server.name}
                {...{ server, place, still, capacity }}
                index={i}
                narrow={layout.narrow}
                isLast={server.lastSentTo}
              />
            )
          )
        })}
      </svg>
      <canvas ref={canvas} />
    </div>
  )
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = () => {
      if (element.clientWidth > 0) setWidth(element.clientWidth)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return width
}

// Paints every frame of the player, past Preact.
function usePainting(player: Player, which: number, layout: Layout, still: boolean) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const flights = useMemo(() => new Flights(), [])
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!canvas.current || !context) return
    const painter = new Painter(canvas.current, context)
    painter.fit(layout)
    const paint = () => {
      const run = player.runs[which]
      if (run !== undefined) painter.paint(run, flights, player.inputs.dot)
    }
    const onFrame = (elapsed: number) => {
      const run = player.runs[which]
      if (run === undefined) return
      const dots = run.takeDots()
      if (elapsed === Number.POSITIVE_INFINITY || still) {
        flights.clear()
        painter.clear()
      } else {
        flights.move(elapsed / flightTime(player.inputs.speed))
        for (const { server, balancer } of dots) flights.launch(server, balancer)
        painter.moveReports(run, elapsed)
      }
      if (!still) paint()
    }
    paint()
    const stops = [
      player.onFrame(onFrame),
      player.onTick(() => still && paint()),
      followTheme(() => {
        painter.fit(layout)
        paint()
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [player, which, layout, still, flights])
  useEffect(() => () => flights.clear(), [flights])
  return canvas
}

function Headings({ layout, balancers }: { layout: Layout; balancers: number }) {
  const { users, balancers: group, servers } = layout
  const card = servers[0]?.card
  const y = TOP - 16
  const names =
    balancers === 1
      ? ['Load balancer', 'Balancer']
      : [`${balancers} load balancers`, `${balancers} balancers`, `${balancers} LBs`]
  return (
    <g class="headings">
      <Words class="middle" choices={['Users']} room={users.width} x={middleOf(users)} y={y} />
      <Words class="middle" choices={names} room={roomAround(layout)} x={middleOf(group)} y={y} />
      {card && <Words class="middle" choices={['Servers']} room={card.width} x={middleOf(card)} y={y} />}
    </g>
  )
}

function middleOf({ x, width }: Box): number {
  return x + width / 2
}

/** Width that a text over or under the balancers may take without touching what is beside them, px. */
function roomAround({ users, balancers, servers }: Layout): number {
  const middle = middleOf(balancers)
  const right = servers[0]?.waiting.x ?? middle + balancers.width
  return 2 * Math.min(middle - users.width - 4, right - middle)
}

// As wide as the server's share of the requests.
function Ways({ layout, run }: { layout: Layout; run: SceneRun }) {
  // As many lines share the width; so many are too much to glide.
  const each = Math.sqrt(layout.balancer.length)
  return (
    <g class={layout.balancer.length > 2 ? 'ways' : 'ways gliding'}>
      <path class="way trunk" d={trunkPath(layout)} stroke-width={10 / each} />
      {run.servers.map(({ name, share }, i) => (
        <path
          key={name}
          class="way"
          style={{ '--own': `var(--server-${i + 1})` }}
          d={wayPath(layout, i)}
          stroke-width={(2 + 20 * share) / each}
        />
      ))}
    </g>
  )
}

function Users({ layout, rate }: { layout: Layout; rate: number }) {
  const { users, narrow } = layout
  const x = middleOf(users)
  const y = users.y + users.height / 2
  const size = narrow ? 0.72 : 1
  return (
    <g class="users">
      {USERS.map((offset) => (
        <g key={offset} transform={`translate(${x} ${y + offset}) scale(${size})`}>
          <circle r="8" cy="-9" />
          <path d="M-14 16v-3a14 12 0 0 1 28 0v3z" />
        </g>
      ))}
      <Words class="name middle" choices={[rounded(rate)]} room={users.width} x={x} y={y + 92} />
      <Words class="figure middle" choices={['req/s']} room={users.width} x={x} y={y + 107} />
    </g>
  )
}

function Balancers({ layout, run }: { layout: Layout; run: SceneRun }) {
  const { balancers: group, balancer } = layout
  const last = run.servers.findIndex(({ lastSentTo }) => lastSentTo)
  const x = middleOf(group)
  const below = group.y + group.height
  const isOne = balancer.length === 1
  const room = roomAround(layout)
  return (
    <g class="balancers" style={last < 0 ? {} : { '--own': `var(--server-${last + 1})` }}>
      <rect class={isOne ? 'panel' : 'group'} {...group} rx="12" />
      {isOne ? (
        <path
          class="icon"
          transform={`translate(${x} ${group.y + group.height / 2})`}
          d="M-14 0H-4M-4 0C4 0 2 -18 14 -18M-4 0C3 0 3 -6 14 -6M-4 0C3 0 3 6 14 6M-4 0C4 0 2 18 14 18"
        />
      ) : (
        balancer.map((box) => <rect class="panel" key={box.y} {...box} rx={Math.min(4, box.height / 3)} />)
      )}
      <Words class="figure middle" choices={['last sent to']} room={room} x={x} y={below + 18} />
      <Words
        class="name own middle"
        choices={[last < 0 ? '–' : titleOf(last)]}
        room={room}
        x={x}
        y={below + 35}
      />
    </g>
  )
}
