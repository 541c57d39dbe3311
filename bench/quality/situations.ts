import type { Change, Scene, ServerSpec } from '../../dist/simulation/scene.js'
import { type QualityScene, queues, servers } from './scenes.js'

/** Scenes of what happens to a fleet: distance, pauses, restarts, and load that changes or is low. No bars. */
export const situations: readonly QualityScene[] = [
  ...[1, 8].flatMap((balancers) => [
    ...[
      [0.2, 1],
      [0.5, 20],
      [5, 20],
      [0.5, 100],
    ].map(([near = 0, far = 0]) => distant(near, far, balancers)),
    stalling(balancers),
    restarting(balancers),
    swinging(balancers),
  ]),
  ...[5, 10, 30, 50].flatMap((percent) => [1, 2, 4, 8].map((balancers) => low(percent, balancers))),
]

function scene(name: string, about: string, balancers: number, make: QualityScene['make']): QualityScene {
  return {
    name: `${name}-${balancers}`,
    about: `${about}, ${balancers} balancer${balancers === 1 ? '' : 's'}`,
    requests: 250_000,
    make,
  }
}

function distant(near: number, far: number, balancers: number): QualityScene {
  const eight: ServerSpec[] = servers(8).map((server, i) => ({ ...server, delay: i < 4 ? near : far }))
  return scene(
    `far-${far}`,
    `4 of 8 nodes ${near} ms away, 4 of them ${far} ms, 70 %`,
    balancers,
    (requests) => queues({ servers: eight, load: 0.7, balancers }, requests),
  )
}

function stalling(balancers: number): QualityScene {
  return scene('stalls', 'each of 8 stands still for 200 ms every 10 s, 70 %', balancers, (requests) => {
    const made = queues({ servers: servers(8), load: 0.7, balancers }, requests)
    return {
      ...made,
      changes: every(1_250, made, (at, server) => [
        { at, server, state: 'silent' },
        { at: at + 200, server, state: 'up' },
      ]),
    }
  })
}

function restarting(balancers: number): QualityScene {
  const about = 'every 10 s one of 8 leaves for 3 s, and takes 10 s from 30 % to full speed, 70 % of seven'
  return scene('restarts', about, balancers, (requests) => {
    const made = queues({ servers: servers(8), remaining: servers(7), load: 0.7, balancers }, requests)
    return {
      ...made,
      changes: every(10_000, made, (at, server) => [
        { at, server, state: 'gone' },
        ...Array.from(
          { length: 8 },
          (_, step): Change => ({
            at: at + 3_000 + (step * 10_000) / 7,
            server,
            speed: 0.3 + 0.1 * step,
            state: 'up',
          }),
        ),
      ]),
    }
  })
}

// Changes of one server after another, from 10 s on.
function every(
  interval: number,
  { arrivals, requests }: Scene,
  changesOf: (at: number, server: number) => readonly Change[],
): Change[] {
  const until = arrivals.kind === 'poisson' ? (requests / arrivals.rate) * 2_000 : 0
  const count = Math.ceil(Math.max(0, until - 10_000) / interval)
  return Array.from({ length: count }, (_, i) => changesOf(10_000 + i * interval, i % 8)).flat()
}

function swinging(balancers: number): QualityScene {
  return scene('swings', '8 nodes, 95 % and 45 % load by turns of 3 s', balancers, (requests, seed) => {
    const made = queues({ servers: servers(8), load: 0.7, balancers }, requests)
    return { ...made, arrivals: { kind: 'replay', times: swingingTimes(requests, seed) } }
  })
}

function swingingTimes(requests: number, seed: number): Float64Array {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  let time = 0
  return new Float64Array(requests).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const load = Math.floor(time / 3_000) % 2 === 0 ? 0.95 : 0.45
    time += (-Math.log((state + 0.5) / 2 ** 32) * 1_000) / (800 * load)
    return time
  })
}

// What counts is the largest share of a node in windows of 5 s, or of 25 requests for each node.
function low(percent: number, balancers: number): QualityScene {
  const rate = 8 * percent
  return {
    ...scene(`low-${percent}`, `8 equal nodes, ${percent} %`, balancers, (requests) => ({
      ...queues({ servers: servers(8), load: percent / 100, balancers }, requests),
      warmup: 40_000,
      window: Math.max(5_000, 200_000 / rate),
    })),
    requests: Math.ceil(rate * 300),
  }
}
