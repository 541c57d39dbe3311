import { adaptive } from '../../algorithms/adaptive/options.js'
import { leastCpu } from '../../algorithms/least-cpu/options.js'
import { powerOfTwo } from '../../algorithms/power-of-two/options.js'
import { roundRobin } from '../../algorithms/round-robin/options.js'
import { spareCapacity } from '../../algorithms/spare-capacity/options.js'
import { weightedRoundRobin } from '../../algorithms/weighted-round-robin/options.js'
import { FLEET_DEFAULTS } from '../../estimate/inputs.js'
import { type Policy, readingTtl, shipped } from '../../simulation/policy.js'

/** Length of a run, ms of virtual time. */
export const RUN_LENGTH = 600_000

/** A way to pick a server, by its name in links. */
export type ScenePolicy =
  | 'least-loaded'
  | 'spare-capacity'
  | 'round-robin'
  | 'least-cpu'
  | 'two-choices'
  | 'weighted-round-robin'
  | 'adaptive'

/** What a visitor sets; all of it is in the link. */
export interface Inputs {
  readonly policy: ScenePolicy
  /** The one beside it, on the same requests; undefined: none. */
  readonly second: ScenePolicy | undefined
  /** Users of the estimate on one day, 0-10^10. */
  readonly users: number
  /** Requests of one of them on that day, 0-100,000. */
  readonly requests: number
  /** Requests in the busiest hour as a multiple of the day's average, 1-100. */
  readonly peakFactor: number
  /** Traffic as a multiple of the planned peak, 0-100. */
  readonly traffic: number
  /** Requests per second that one server can do, 0.1 to 10^9. */
  readonly capacity: number
  /** Load that a server is planned for, 0.01-0.99. */
  readonly targetLoad: number
  /** Servers of the fleet, 1 to 10^9; undefined: as many as the estimate plans. */
  readonly servers: number | undefined
  /** Time between two reports of a server to one balancer, ms, 100-600,000. */
  readonly reportInterval: number
  /** Share of its CPU that one server loses to other work, 0-0.99; 0: none. */
  readonly lost: number
  /** When it loses it, ms of virtual time, 0 to `RUN_LENGTH`. */
  readonly lostAt: number
  /** 1-32; each request comes to one of them at random, and each knows but its own. */
  readonly balancers: number
  /** Width of the band of `least-cpu`, percentage points, 0-50. */
  readonly threshold: number
  /** Time constant of the smoothing of `spare-capacity`, ms, 0-60,000; 0: none. */
  readonly smoothing: number
  /** Requests that one dot stands for, 1-1,000. */
  readonly dot: number
  /** Virtual seconds per second, 0.1-20. */
  readonly speed: number
  /** What the requests are drawn from, a whole number from 0 to 2^53 - 1. */
  readonly seed: number
}

/** Names of the inputs that are numbers. */
export type NumberInput = Exclude<keyof Inputs, 'policy' | 'second'>

/** What a number may be, bounds included. */
export interface Range {
  readonly min: number
  readonly max: number
  readonly whole: boolean
}

/** The range of each number. Any combination gives an estimate: no result is more than a number can hold. */
export const ranges: Readonly<Record<NumberInput, Range>> = {
  users: { min: 0, max: 1e10, whole: false },
  requests: { min: 0, max: 100_000, whole: false },
  peakFactor: { min: 1, max: 100, whole: false },
  traffic: { min: 0, max: 100, whole: false },
  capacity: { min: 0.1, max: 1e9, whole: false },
  targetLoad: { min: 0.01, max: 0.99, whole: false },
  servers: { min: 1, max: 1e9, whole: true },
  reportInterval: { min: 100, max: RUN_LENGTH, whole: false },
  lost: { min: 0, max: 0.99, whole: false },
  lostAt: { min: 0, max: RUN_LENGTH, whole: false },
  balancers: { min: 1, max: 32, whole: true },
  threshold: { min: 0, max: 50, whole: false },
  smoothing: { min: 0, max: 60_000, whole: false },
  dot: { min: 1, max: 1_000, whole: true },
  speed: { min: 0.1, max: 20, whole: false },
  seed: { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true },
}

/** Whether a number is one that the input may be. */
export function isAllowed(name: NumberInput, value: number): boolean {
  const { min, max, whole } = ranges[name]
  return value >= min && value <= max && (!whole || Number.isInteger(value))
}

/** What a visitor finds. */
export const DEFAULTS: Inputs = Object.freeze({
  policy: 'least-loaded',
  second: undefined,
  users: FLEET_DEFAULTS.dailyActiveUsers,
  requests: FLEET_DEFAULTS.requestsPerUserPerDay,
  peakFactor: FLEET_DEFAULTS.peakFactor,
  traffic: FLEET_DEFAULTS.trafficFactor,
  capacity: FLEET_DEFAULTS.serverCapacity,
  targetLoad: FLEET_DEFAULTS.targetLoad,
  servers: undefined,
  reportInterval: FLEET_DEFAULTS.reportInterval * 1_000,
  lost: FLEET_DEFAULTS.lostShare,
  lostAt: 20_000,
  balancers: 1,
  threshold: 5,
  smoothing: 10_000,
  dot: 100,
  speed: 1,
  seed: 1,
})

interface NamedScenePolicy {
  /** For people, a few words. */
  readonly title: string
  /** What it does, in one sentence. */
  readonly about: string
  readonly make: (inputs: Inputs) => Policy
}

const list: readonly (NamedScenePolicy & { readonly name: ScenePolicy })[] = [
  {
    name: 'least-loaded',
    title: 'Least loaded only',
    about: 'Everything goes to the server that reported the lowest CPU, until the next report.',
    make: (inputs) => shipped('least-loaded', leastCpu({ threshold: 0, ttl: readingTtl(inputs) })),
  },
  {
    name: 'spare-capacity',
    title: 'Spare capacity',
    about: 'At random, with the CPU that each server has to spare as its weight, smoothed over time.',
    make: (inputs) =>
      shipped('spare-capacity', spareCapacity({ smoothing: inputs.smoothing, ttl: readingTtl(inputs) })),
  },
  {
    name: 'round-robin',
    title: 'Round robin',
    about: 'Each server in turn; reports count for nothing.',
    make: () => shipped('round-robin', roundRobin()),
  },
  {
    name: 'least-cpu',
    title: 'LeastCpu band',
    about: 'At random among the servers whose reported CPU is within a few points of the lowest.',
    make: (inputs) =>
      shipped('least-cpu', leastCpu({ threshold: inputs.threshold, ttl: readingTtl(inputs) })),
  },
  {
    name: 'two-choices',
    title: 'Two choices',
    about: 'Of two servers drawn at random, the one that reported the lower CPU.',
    make: (inputs) => shipped('two-choices', powerOfTwo({ metric: 'cpu', ttl: readingTtl(inputs) })),
  },
  {
    name: 'weighted-round-robin',
    title: 'Weighted round robin',
    about: 'In turn, and more often to servers that do more requests for the CPU that they report.',
    make: () => shipped('weighted-round-robin', weightedRoundRobin()),
  },
  {
    name: 'adaptive',
    title: 'Adaptive',
    about: 'The server with the least response time to expect, learned from the responses.',
    make: (inputs) => shipped('adaptive', adaptive({ ttl: readingTtl(inputs) })),
  },
]

/** The policies by name, in the order in which they are offered. */
export const scenePolicies = Object.fromEntries(
  list.map(({ name, ...policy }) => [name, policy]),
) as Readonly<Record<ScenePolicy, NamedScenePolicy>>

/** Whether a text is the name of a policy. */
export function isScenePolicy(text: string): text is ScenePolicy {
  return Object.hasOwn(scenePolicies, text)
}
