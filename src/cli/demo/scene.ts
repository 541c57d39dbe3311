import { availableCores } from './cores.js'
import type { ServerSettings } from './messages.js'
import { makePlan, type Plan } from './plan.js'

/** What a user may choose. */
export interface DemoOptions {
  /** How long requests are sent in each of the two ways, s. */
  readonly duration: number
  readonly seed: number
  readonly engine: 'auto' | 'native' | 'portable'
  /** Percent of the capacity of all servers without the second job. */
  readonly load: number
}

/** The way that the servers and the load are, all of it known before anything is started. */
export interface Scene {
  readonly servers: readonly ServerSettings[]
  /** What each server may use of one core, 0-1. */
  readonly share: number
  /** Requests per second that all servers could do without the second job. */
  readonly capacity: number
  /** Requests per second that are sent, on average. */
  readonly rate: number
  readonly plan: Plan
  readonly warmUp: Plan
}

const SERVERS = 4
/** Place of the server that has a second job, from 0. */
export const BUSY = 2
/** What the second job takes of that server's share. */
export const SECOND_JOB = 0.5

/** How often the servers are asked for their reports, ms. */
export const REPORT_INTERVAL = 250
/** How often a server samples its CPU, ms. */
const SAMPLE_INTERVAL = 125
/** What the CPU in a report is the mean over, ms. */
export const WINDOW = 500

/** Mean work of a request, CPU ms. At a quarter of a core: 5 ms, 200 requests per second and server. */
export const MEAN_WORK = 1.25

/**
 * Options of `leastCpu`. The band is wide, since a report is as old as 50 to 100 requests take: with the default of 5
 * nearly everything goes to one server until the next report. Measured on 2 cores (seed 1, 18 s), p50 and p99 by
 * threshold: 5: 328 and 966 ms, 20: 214 and 694 ms, 40: 13 and 347 ms; random: 12 and 3,676 ms; round robin: 11 and
 * 4,235 ms. From 55 on the overloaded server is hardly ever left out. A reading older than three reports isn't used.
 */
export const ALGORITHM = { threshold: 40, ttl: 1_000 }

/** The warm-up: its load in percent, low enough for any server, and its longest time, s. */
const WARM_UP = { load: 35, duration: 1.5 }

// Another sequence than the one that is measured.
const warmUpSeed = (seed: number) => (seed === 0 ? 1 : seed - 1)

/**
 * What each server may use of a core, so that the four and the load generator fit on the machine: a quarter on 2
 * cores. A server works on one thread, so it is at most half a core.
 */
export function serverShare(cores = availableCores()): number {
  return Math.min(0.5, cores / 8)
}

export function makeScene({ duration, seed, load }: DemoOptions): Scene {
  const share = serverShare()
  const capacity = (SERVERS * share * 1000) / MEAN_WORK
  const plan = (percent: number, duration: number, seed: number) =>
    makePlan({ seed, rate: (capacity * percent) / 100, meanWork: MEAN_WORK, duration })
  return {
    servers: Array.from({ length: SERVERS }, (_, i) => ({
      share,
      secondJob: i === BUSY ? SECOND_JOB : 0,
      sampleInterval: SAMPLE_INTERVAL,
      window: WINDOW,
    })),
    share,
    capacity,
    rate: (capacity * load) / 100,
    plan: plan(load, duration, seed),
    warmUp: plan(WARM_UP.load, Math.min(WARM_UP.duration, duration), warmUpSeed(seed)),
  }
}
