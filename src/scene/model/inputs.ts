import { adaptive } from '../../algorithms/adaptive/options.js'
import { leastCpu } from '../../algorithms/least-cpu/options.js'
import { powerOfTwo } from '../../algorithms/power-of-two/options.js'
import { roundRobin } from '../../algorithms/round-robin/options.js'
import { spareCapacity } from '../../algorithms/spare-capacity/options.js'
import { weightedRoundRobin } from '../../algorithms/weighted-round-robin/options.js'
import { type Policy, readingTtl, shipped } from '../../simulation/policy.js'

/** Servers that are drawn. */
export const SERVERS = 4
/** Requests per second that one server can do: one core, and service times of 5 ms in the mean. */
export const CAPACITY = 200
/** Index of the server that loses CPU: the one named `server-2`. */
export const LOSING = 1
/** Length of a run, ms of virtual time. */
export const RUN_LENGTH = 600_000

/**
 * Requests per second at `traffic` 1: what four of the ten servers take that the estimate plans for a million users, of
 * 50 requests a day each, at twice the average. 462.96; shown as 463.
 */
export const PEAK_RATE = (((1_000_000 * 50) / 86_400) * 2 * SERVERS) / 10

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
  /** Multiple of `PEAK_RATE`, 0.1-2. */
  readonly traffic: number
  /** Time between two reports of a server to one balancer, ms, 100-30,000. */
  readonly reportInterval: number
  /** Share of its CPU that `server-2` loses to other work, 0-0.95; 0: none. */
  readonly lost: number
  /** When it does, ms of virtual time, 0 to `RUN_LENGTH`. */
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

/** What each number may be. */
export const ranges: Readonly<Record<NumberInput, Range>> = {
  traffic: { min: 0.1, max: 2, whole: false },
  reportInterval: { min: 100, max: 30_000, whole: false },
  lost: { min: 0, max: 0.95, whole: false },
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
  traffic: 1,
  reportInterval: 2_000,
  lost: 0.5,
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
