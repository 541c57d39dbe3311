/** A box of the drawing, px. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A point of the drawing, px. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** One server's place: its card, where requests wait before it, and the way that leads there. */
export interface ServerPlace {
  readonly card: Box
  /** Where marks for waiting requests stand, from its right edge on. */
  readonly waiting: Box
  /** Where the ways from the balancers end. */
  readonly entry: Point
}

/** Where everything is in a drawing of some width. */
export interface Layout {
  readonly width: number
  readonly height: number
  /** Too narrow for long words. */
  readonly narrow: boolean
  readonly users: Box
  /** All balancers together. */
  readonly balancers: Box
  /** One for each balancer. */
  readonly balancer: readonly Box[]
  readonly servers: readonly ServerPlace[]
  /** Radius of a dot. */
  readonly dot: number
}

/** The users that are drawn: how far each is from the middle, px. */
export const USERS = [-46, 0, 46] as const

/** Height of the headings over the columns. */
export const TOP = 30

/** Height of what is written under the balancers: where the last request went. */
const LABEL = 42

/** Height of the users with what is written under them. */
const LEAST_HEIGHT = 216

/** Least width of a drawing, px: that of a phone of 320 px. In less, columns would overlap and texts have no room. */
export const LEAST_WIDTH = 288

/** Lays out users, balancers and servers, from left to right, in a width of at least `LEAST_WIDTH`. */
export function layOut(width: number, balancers: number, servers: number): Layout {
  const narrow = width < 560
  const cardHeight = 96
  const gap = 14
  const cards = servers * cardHeight + (servers - 1) * gap
  // Few servers stand in the middle of what the users take.
  const height = TOP + Math.max(cards, LEAST_HEIGHT) + 4
  const middle = (TOP + height) / 2
  const dot = narrow ? 3.5 : 5

  const cardWidth = narrow ? clamp(width * 0.43, 132, 240) : clamp(width * 0.34, 220, 330)
  const waitingWidth = clamp(width * 0.17, 34, 190)
  const usersWidth = narrow ? 44 : 70
  const balancerWidth = narrow ? 46 : 92
  const left = usersWidth
  const right = width - cardWidth - waitingWidth
  const balancerX = Math.round(left + (right - left - balancerWidth) * 0.4)

  const groupHeight = balancers === 1 ? 92 : Math.min(height - TOP - 2 * LABEL, 40 + balancers * 30)
  const group = { x: balancerX, y: middle - groupHeight / 2, width: balancerWidth, height: groupHeight }
  return {
    width,
    height,
    narrow,
    users: { x: 0, y: middle - 90, width: usersWidth, height: 180 },
    balancers: group,
    balancer: balancerBoxes(group, balancers),
    servers: Array.from({ length: servers }, (_, i) => {
      const y = TOP + Math.max(LEAST_HEIGHT - cards, 0) / 2 + i * (cardHeight + gap)
      const card = { x: width - cardWidth - 1, y, width: cardWidth, height: cardHeight }
      const waiting = { x: card.x - waitingWidth, y, width: waitingWidth, height: cardHeight }
      return { card, waiting, entry: { x: waiting.x, y: y + cardHeight / 2 } }
    }),
    dot,
  }
}

function balancerBoxes(group: Box, balancers: number): Box[] {
  if (balancers === 1) return [group]
  const inner = { x: group.x + 6, y: group.y + 6, width: group.width - 12, height: group.height - 12 }
  const pitch = inner.height / balancers
  const height = Math.max(pitch * 0.72, 2)
  return Array.from({ length: balancers }, (_, i) => ({
    x: inner.x,
    y: inner.y + i * pitch + (pitch - height) / 2,
    width: inner.width,
    height,
  }))
}

/** Where a flight is: from the users to its balancer in a line, then in a curve to its server. */
export function pointOf(
  layout: Layout,
  server: number,
  balancer: number,
  progress: number,
  lane: number,
): Point {
  const place = layout.servers[server]
  const box = layout.balancer[balancer] ?? layout.balancer[0]
  if (place === undefined || box === undefined) return { x: 0, y: 0 }
  const { users } = layout
  const user = USERS[Math.min(Math.floor(((lane + 1) / 2) * USERS.length), USERS.length - 1)] ?? 0
  const from = { x: users.x + users.width - 8, y: users.y + users.height / 2 + user }
  const middle = box.y + box.height / 2
  const spread = Math.min(box.height / 2 - 2, 14) * lane
  const first = { x: box.x, y: middle + spread }
  const second = { x: box.x + box.width, y: middle + spread }
  const end = { x: place.waiting.x + place.waiting.width, y: place.entry.y + lane * 8 }
  const lengths = [first.x - from.x, box.width, end.x - second.x] as const
  let way = progress * (lengths[0] + lengths[1] + lengths[2])
  if (way < lengths[0]) return between(from, first, way / lengths[0])
  way -= lengths[0]
  if (way < lengths[1]) return between(first, second, way / lengths[1])
  way -= lengths[1]
  return onCurve(second, { x: place.entry.x, y: end.y }, end, second.x + way)
}

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

// An S from the balancer to the server's way, and on in a straight line.
function onCurve(from: Point, to: Point, end: Point, x: number): Point {
  if (x >= to.x) return { x, y: end.y }
  const share = (x - from.x) / (to.x - from.x)
  const eased = share * share * (3 - 2 * share)
  return { x, y: from.y + (to.y - from.y) * eased }
}

/**
 * The ways from all balancers to a server, as the path of an SVG. The cubic with these handles is the curve on which
 * `pointOf` goes.
 */
export function wayPath({ balancer, servers }: Layout, server: number): string {
  const place = servers[server]
  if (place === undefined) return ''
  const { entry, waiting } = place
  const starts = balancer.map(({ x, y, width, height }) => {
    const from = { x: x + width, y: y + height / 2 }
    const third = (entry.x - from.x) / 3
    return `M${from.x} ${from.y}C${from.x + third} ${from.y} ${entry.x - third} ${entry.y} ${entry.x} ${entry.y}`
  })
  return `${starts.join('')}H${waiting.x + waiting.width}`
}

/** The ways from the users to all balancers, as the path of an SVG. */
export function trunkPath({ users, balancer }: Layout): string {
  const x = users.x + users.width - 8
  const middle = users.y + users.height / 2
  return USERS.flatMap((user) =>
    balancer.map((box) => `M${x} ${middle + user}L${box.x} ${box.y + box.height / 2}`),
  ).join('')
}

/**
 * Places of the marks for requests that wait, each as many as a dot: columns of five from the server's edge on. The
 * last mark is as large as its part of a dot, unless that is too small to be seen.
 * @param each called with a mark's middle and its radius; more marks than there is room for are left out
 * @returns marks that there was no room for
 */
export function markQueue(
  { waiting }: ServerPlace,
  radius: number,
  marks: number,
  each: (x: number, y: number, radius: number) => void,
): number {
  const pitch = radius * 2 + 2
  const rows = 5
  const columns = Math.max(Math.floor((waiting.width - 8) / pitch), 1)
  const top = waiting.y + waiting.height / 2 - ((rows - 1) / 2) * pitch
  const shown = Math.min(Math.ceil(marks), rows * columns)
  for (let i = 0; i < shown; i++) {
    const size = radius * Math.sqrt(Math.min(marks - i, 1))
    // A speck says nothing: the number beside it does.
    if (size < 1) break
    const x = waiting.x + waiting.width - 6 - radius - Math.floor(i / rows) * pitch
    // From the middle outwards: 2, 1, 3, 0, 4.
    const row = Math.floor(rows / 2) + Math.ceil((i % rows) / 2) * ((i % rows) % 2 === 0 ? 1 : -1)
    each(x, top + row * pitch, size)
  }
  return Math.max(Math.ceil(marks) - shown, 0)
}

// To whole pixels.
function clamp(value: number, least: number, most: number): number {
  return Math.round(Math.min(Math.max(value, least), most))
}
