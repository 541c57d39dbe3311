import { redrawn } from '../../dist/simulation/redrawn.js'
import { capacity, type Scene, type ServerSpec } from '../../dist/simulation/scene.js'

/** A scene that algorithms are judged by. */
export interface QualityScene {
  readonly name: string
  /** For people, in one line. */
  readonly about: string
  /** Requests of a full run. */
  readonly requests: number
  /** The server that something happens to, and when, ms; what it is sent from then on is what counts. */
  readonly watched?: { readonly server: number; readonly from: number }
  readonly make: (requests: number, seed: number) => Scene
}

/** Reports come so often, ms. */
const REPORTS = 5_000

/** Mean service time, ms. */
const SERVICE = 10

/** What a scene of queues is made of. Not given: 1 core, 10 ms, reports every 5 s, 1 balancer. */
export interface Queues {
  readonly servers: readonly ServerSpec[]
  /** Share of what the servers that are up can do beside their other work. */
  readonly load: number
  readonly balancers?: number
  readonly service?: number
  readonly reportInterval?: number
  /** One-way delay of the network, ms. */
  readonly delay?: number
  /** Shape of the service times, as a quantile function of mean 1; default exponential. */
  readonly quantile?: (q: number) => number
  /** Servers that the load is a share of, where not all of those at the start. */
  readonly remaining?: readonly ServerSpec[]
}

/** Poisson arrivals and exponential service at a load of the capacity that remains; a tenth of the time is warm-up. */
export function queues(given: Queues, requests: number): Scene {
  const {
    servers,
    load,
    balancers = 1,
    service = SERVICE,
    reportInterval = REPORTS,
    remaining = servers,
    delay = 0,
    quantile,
  } = given
  const rate = load * capacity(remaining, service)
  return {
    servers,
    balancers,
    requests,
    arrivals: { kind: 'poisson', rate },
    service:
      quantile === undefined
        ? { kind: 'exponential', mean: service }
        : { kind: 'given', times: spread(quantile, service) },
    reportInterval,
    delay,
    warmup: Math.min(Math.max(2 * reportInterval, (requests / rate) * 100), (requests / rate) * 500),
  }
}

// Twice the time that the requests take to arrive, ms: by then all is over.
function twiceAsLong({ arrivals, requests }: Scene): number {
  return arrivals.kind === 'poisson' ? (requests / arrivals.rate) * 2_000 : 0
}

/** A prime: policies that go in turn never fall into step with it. */
const TIMES = 9_973

// Each quantile once, in an order without a pattern; of exactly the mean.
function spread(quantile: (q: number) => number, mean: number): Float64Array {
  const times = Float64Array.from({ length: TIMES }, (_, i) =>
    quantile((((i * 6_151) % TIMES) + 0.5) / TIMES),
  )
  const sum = times.reduce((sum, time) => sum + time, 0)
  return times.map((time) => (time * mean * TIMES) / sum)
}

/** Servers of which the first `slow` lose a share of their CPU to other work. */
export function servers(count: number, slow = 0, background = 0): ServerSpec[] {
  return Array.from({ length: count }, (_, i) => ({ background: i < slow ? background : 0 }))
}

function pair(
  name: string,
  about: string,
  given: Omit<Queues, 'balancers'>,
  balancers: readonly number[] = [1, 8],
): QualityScene[] {
  return balancers.map((balancers) => ({
    name: `${name}-${balancers}`,
    about: `${about}, ${balancers} balancer${balancers === 1 ? '' : 's'}`,
    requests: 250_000,
    make: (requests) => queues({ ...given, balancers }, requests),
  }))
}

/** When the failing server starts to fail, and the new one joins, ms; a window starts then. */
const CHANGED = 60_000

function failing(balancers: number): QualityScene {
  return {
    name: `failing-${balancers}`,
    about: `one of 8 fails within 1 ms from then on, 70 % of what remains, ${balancers} balancer(s)`,
    requests: 100_000,
    watched: { server: 0, from: CHANGED },
    make: (requests) => ({
      ...queues({ servers: servers(8), remaining: servers(7), load: 0.7, balancers }, requests),
      changes: [{ at: CHANGED, server: 0, state: 'failing' }],
      warmup: CHANGED,
      window: REPORTS,
    }),
  }
}

function joining(balancers: number): QualityScene {
  const seven = servers(7)
  return {
    name: `join-${balancers}`,
    about: `an eighth node joins 7 at 80 % load, windows of 1 s, ${balancers} balancer(s)`,
    requests: 100_000,
    watched: { server: 7, from: CHANGED },
    make: (requests) => ({
      ...queues({ servers: [...seven, { state: 'gone' }], remaining: seven, load: 0.8, balancers }, requests),
      changes: [{ at: CHANGED, server: 7, state: 'up' }],
      warmup: CHANGED,
      window: 1_000,
    }),
  }
}

const fleet: QualityScene = {
  name: 'fleet',
  about: '100 balancers x 100 servers, 90 % load, a fifth at half speed, redrawn every 10 s, 20 ms',
  requests: 400_000,
  make: (requests, seed) => {
    const scene = queues(
      { servers: servers(100), remaining: servers(100, 20, 0.5), load: 0.9, balancers: 100, service: 20 },
      requests,
    )
    const until = twiceAsLong(scene)
    return {
      ...scene,
      changes: redrawn({ servers: 100, busy: 20, background: 0.5, every: 10_000, until, seed }),
      warmup: 20_000,
    }
  },
}

/** What the bars are about, in the order of the tables. */
export const scenes: readonly QualityScene[] = [
  ...pair('equal', '8 equal nodes, 70 % load', { servers: servers(8), load: 0.7 }),
  ...pair('slow', 'one of 8 loses half its CPU, 70 %', { servers: servers(8, 1, 0.5), load: 0.7 }),
  ...pair('two-slow', '2 of 8 lose 60 %, 85 %', { servers: servers(8, 2, 0.6), load: 0.85 }),
  fleet,
  failing(1),
  failing(8),
  joining(1),
  joining(8),
]

const mixed: ServerSpec[] = [1, 1, 2, 4].flatMap((cores) => [{ cores }, { cores }])
const giants: ServerSpec[] = Array.from({ length: 64 }, (_, i) => ({ cores: i % 16 === 0 ? 16 : 1 }))
const speeds: ServerSpec[] = [0.5, 0.5, 1, 1, 1, 1, 1.5, 2].map((speed) => ({ speed }))

// A tenth of the requests take eleven times as long; and Pareto's with a tail of 2.2.
const twoKinds = (q: number) => (q < 0.9 ? 0.5 : 5.5)
const pareto = (q: number) => (1 - q) ** (-1 / 2.2)

function sudden(balancers: number): QualityScene {
  return {
    name: `sudden-${balancers}`,
    about: `another of 8 loses 70 % every 10 s, 70 %, ${balancers} balancer(s)`,
    requests: 250_000,
    make: (requests, seed) => {
      const scene = queues(
        { servers: servers(8), remaining: servers(8, 1, 0.7), load: 0.7, balancers },
        requests,
      )
      const until = twiceAsLong(scene)
      return {
        ...scene,
        changes: redrawn({ servers: 8, busy: 1, background: 0.7, every: 10_000, until, seed }),
      }
    },
  }
}

function silent(balancers: number): QualityScene {
  return {
    name: `silent-${balancers}`,
    about: `one of 8 answers nothing for 20 s, time-out 1 s, 70 % of what remains, ${balancers} balancer(s)`,
    requests: 100_000,
    watched: { server: 0, from: CHANGED },
    make: (requests) => ({
      ...queues({ servers: servers(8), remaining: servers(7), load: 0.7, balancers }, requests),
      changes: [
        { at: CHANGED, server: 0, state: 'silent' },
        { at: CHANGED + 20_000, server: 0, state: 'up' },
      ],
      timeout: 1_000,
      warmup: CHANGED,
      window: REPORTS,
    }),
  }
}

function hanging(balancers: number): QualityScene {
  return {
    ...silent(balancers),
    name: `hanging-${balancers}`,
    about: `the same without time-out: it goes on where it was, ${balancers} balancer(s)`,
    make: (requests, seed) => {
      const { timeout: _, ...scene } = silent(balancers).make(requests, seed)
      return scene
    },
  }
}

/** Scenes near the others, so that nothing is fitted to those alone. No bars. */
export const neighbours: readonly QualityScene[] = [
  ...pair('n3', '3 nodes, one loses half, 80 %', { servers: servers(3, 1, 0.5), load: 0.8 }),
  ...pair('n20', '20 nodes, 4 lose half, 80 %', { servers: servers(20, 4, 0.5), load: 0.8 }),
  ...pair('n64', '64 nodes, 12 lose half, 85 %', { servers: servers(64, 12, 0.5), load: 0.85 }),
  ...pair('light', '2 of 8 lose half, 50 %', { servers: servers(8, 2, 0.5), load: 0.5 }),
  ...pair('heavy', 'one of 8 loses half, 95 %', { servers: servers(8, 1, 0.5), load: 0.95 }),
  ...pair('crawl', 'one of 8 loses 80 %, 70 %', { servers: servers(8, 1, 0.8), load: 0.7 }),
  ...pair('slow-b', 'one of 8 loses half, 70 %', { servers: servers(8, 1, 0.5), load: 0.7 }, [2, 4]),
  ...pair('crowd', 'one of 8 loses half, 80 %', { servers: servers(8, 1, 0.5), load: 0.8 }, [30, 100, 1_000]),
  ...pair('crowd20', '4 of 20 lose half, 85 %', { servers: servers(20, 4, 0.5), load: 0.85 }, [60]),
  ...pair('giants', '4 nodes of 16 cores and 60 of one, 85 %', { servers: giants, load: 0.85 }),
  ...pair('idle', '8 equal nodes, 20 %', { servers: servers(8), load: 0.2 }),
  ...pair('half', '8 equal nodes, 50 %', { servers: servers(8), load: 0.5 }),
  ...pair('delay', 'two-slow, 5 ms of network each way', {
    servers: servers(8, 2, 0.6),
    load: 0.85,
    delay: 5,
  }),
  ...pair('kinds', 'slow, a tenth of the requests 11 times as long', {
    servers: servers(8, 1, 0.5),
    load: 0.7,
    quantile: twoKinds,
  }),
  ...pair('pareto', 'slow, service times of Pareto, 2.2', {
    servers: servers(8, 1, 0.5),
    load: 0.7,
    quantile: pareto,
  }),
  ...[1, 8].map(sudden),
  ...[1, 8].map(silent),
  ...[1, 8].map(hanging),
  ...pair('n1000', '1,000 nodes, 100 lose half, 85 %', { servers: servers(1_000, 100, 0.5), load: 0.85 }),
  ...pair('speeds', '8 nodes of speeds 0.5 to 2, 80 %', { servers: speeds, load: 0.8 }),
  ...pair('cores', '8 nodes of 1 to 4 cores, 80 %', { servers: mixed, load: 0.8 }),
  ...pair('long', 'two-slow with 100 ms', { servers: servers(8, 2, 0.6), load: 0.85, service: 100 }),
  ...pair('often', 'two-slow, reports every 1 s', {
    servers: servers(8, 2, 0.6),
    load: 0.85,
    reportInterval: 1_000,
  }),
  ...pair('seldom', 'two-slow, reports every 15 s', {
    servers: servers(8, 2, 0.6),
    load: 0.85,
    reportInterval: 15_000,
  }),
]
