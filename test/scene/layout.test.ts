import test from 'ava'
import fc from 'fast-check'
import { MOST_DRAWN } from '../../dist/scene/model/fleet.js'
import { expectedFlights, Flights, flightTime, MOST_FLIGHTS } from '../../dist/scene/model/flights.js'
import { type Box, LEAST_WIDTH, layOut, markQueue, pointOf, wayPath } from '../../dist/scene/model/layout.js'

const widths = fc.integer({ min: LEAST_WIDTH, max: 1_600 })
const balancers = fc.integer({ min: 1, max: 32 })
const servers = fc.integer({ min: 1, max: MOST_DRAWN })

function isInside({ x, y, width, height }: Box, outer: { width: number; height: number }): boolean {
  return x >= 0 && y >= 0 && x + width <= outer.width && y + height <= outer.height
}

test('at any width from a phone’s on, everything is inside, and the columns stand side by side', (t) => {
  fc.assert(
    fc.property(widths, balancers, servers, (width, count, servers) => {
      const layout = layOut(width, count, servers)
      const boxes = [
        layout.users,
        layout.balancers,
        ...layout.balancer,
        ...layout.servers.flatMap(({ card, waiting }) => [card, waiting]),
      ]
      t.true(boxes.every((box) => isInside(box, layout)))
      t.is(layout.balancer.length, count)
      t.is(layout.servers.length, servers)
      t.true(layout.users.x + layout.users.width < layout.balancers.x)
      for (const { waiting, card } of layout.servers) {
        t.true(layout.balancers.x + layout.balancers.width + 8 < waiting.x)
        t.is(waiting.x + waiting.width, card.x)
      }
    }),
  )
})

test('a dot goes from the users by its balancer to its server, ever to the right', (t) => {
  fc.assert(
    fc.property(
      widths,
      balancers,
      fc.nat({ max: 3 }),
      fc.double({ min: -1, max: 1, noNaN: true }),
      (width, count, server, lane) => {
        const layout = layOut(width, count, 4)
        const balancer = count - 1
        const points = Array.from({ length: 201 }, (_, i) => pointOf(layout, server, balancer, i / 200, lane))
        for (const [i, { x }] of points.entries()) t.true(i === 0 || x >= (points[i - 1]?.x as number))
        const box = layout.balancer[balancer] as Box
        const through = points.filter(({ x }) => x >= box.x && x <= box.x + box.width)
        t.true(through.every(({ y }) => y >= box.y && y <= box.y + box.height))
        const card = layout.servers[server]?.card as Box
        const last = points.at(-1)
        t.true(last !== undefined && Math.abs(last.x - card.x) < 1e-6)
        t.true(last !== undefined && last.y > card.y && last.y < card.y + card.height)
      },
    ),
  )
})

test('the way that is drawn ends where the dots arrive', (t) => {
  const layout = layOut(1_000, 3, 4)
  const { card } = layout.servers[2] as { card: Box }
  const path = wayPath(layout, 2)
  t.is(path.match(/M/g)?.length, 3)
  t.true(path.endsWith(`H${card.x}`))
})

test('there are as many marks as the queue has dots, the last as large as its part; more than fit are left out', (t) => {
  const layout = layOut(1_000, 1, 4)
  const place = layout.servers[0]
  if (place === undefined) return t.fail()
  const draw = (marks: number) => {
    const drawn: { x: number; y: number; radius: number }[] = []
    const left = markQueue(place, layout.dot, marks, (x, y, radius) => drawn.push({ x, y, radius }))
    return { drawn, left }
  }
  t.deepEqual(draw(0), { drawn: [], left: 0 })
  t.deepEqual(draw(0.01), { drawn: [], left: 0 })
  const { drawn, left } = draw(6.25)
  t.is(left, 0)
  t.deepEqual(
    drawn.map(({ radius }) => radius),
    [...new Array(6).fill(layout.dot), layout.dot / 2],
  )
  t.is(new Set(drawn.map(({ x, y }) => `${x} ${y}`)).size, 7)
  const many = draw(1_000.5)
  t.is(many.drawn.length + many.left, 1_001)
  const { waiting } = place
  t.true(
    many.drawn.every(
      ({ x, y }) =>
        x > waiting.x && x < waiting.x + waiting.width && y > waiting.y && y < waiting.y + waiting.height,
    ),
  )
})

test('flights move on, end, and are at most so many', (t) => {
  const flights = new Flights()
  for (let i = 0; i < MOST_FLIGHTS + 5; i++) flights.launch(i % 4, 0)
  t.is(flights.list.length, MOST_FLIGHTS)
  t.true(flights.list.every(({ lane }) => Math.abs(lane) <= 1))
  flights.move(0.6)
  t.is(flights.list.length, MOST_FLIGHTS)
  flights.move(0.5)
  t.is(flights.list.length, 0)
  flights.launch(1, 2)
  flights.move(0.25)
  t.deepEqual(
    flights.list.map(({ server, balancer, progress }) => ({ server, balancer, progress })),
    [{ server: 1, balancer: 2, progress: 0.25 }],
  )
})

test('a faster run has faster dots, but slower than it is', (t) => {
  t.true(flightTime(20) < flightTime(1) && flightTime(20) > flightTime(1) / 20)
  t.true(flightTime(0.1) > flightTime(1) && flightTime(0.1) < flightTime(1) * 10)
})

test('dots under way: as many as come while one is', (t) => {
  t.is(expectedFlights(500, 100, 1), (5 * flightTime(1)) / 1000)
  t.true(expectedFlights(463, 1, 20) > MOST_FLIGHTS)
})
