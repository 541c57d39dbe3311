import * as v from 'valibot'
import { number, options, whole } from '../options.js'

/** What a fleet is estimated from. */
export interface FleetInputs {
  /** Users on a day, at least 0. */
  dailyActiveUsers: number
  /** Requests of one of them on that day, at least 0. */
  requestsPerUserPerDay: number
  /** Requests in the busiest hour as a multiple of the day's average, at least 1. */
  peakFactor: number
  /** What flows now as a multiple of the planned peak, at least 0. The number of servers is planned from the peak. */
  trafficFactor: number
  /** Requests a second that one server serves when it can go no faster, above 0. */
  serverCapacity: number
  /** Load that a server is planned for, 0-1, both excluded. */
  targetLoad: number
  /** Share of its CPU that one server loses, 0-1, 1 excluded. */
  lostShare: number
  /** Time between two reports of a server, **seconds**, above 0 and at most 600. */
  reportInterval: number
  /** Servers that run, at least 1. As many as planned where it is not given. */
  servers?: number | undefined
}

/** The example of `estimateFleet`: a million users, and the usual value of whatever has one. */
export const FLEET_DEFAULTS: Readonly<Omit<FleetInputs, 'servers'>> = Object.freeze({
  dailyActiveUsers: 1_000_000,
  requestsPerUserPerDay: 50,
  peakFactor: 2,
  trafficFactor: 1,
  serverCapacity: 200,
  targetLoad: 0.6,
  lostShare: 0.5,
  reportInterval: 2,
})

// -0 would go on to the results, and be shown.
const plus = v.transform((value: number) => value + 0)

function atLeast(min: number, what: string) {
  return v.pipe(number(min, undefined, what), plus)
}

function within(isRight: (value: number) => boolean, expected: string) {
  return v.pipe(v.number(expected), v.finite(expected), v.check(isRight, expected), plus)
}

/** Longest time between reports, s. Whoever has reports less often than that sizes nothing by them. */
const LONGEST_INTERVAL = 600

export const fleetOptions = options({
  dailyActiveUsers: v.optional(atLeast(0, 'a number of users'), FLEET_DEFAULTS.dailyActiveUsers),
  requestsPerUserPerDay: v.optional(atLeast(0, 'a number of requests'), FLEET_DEFAULTS.requestsPerUserPerDay),
  peakFactor: v.optional(atLeast(1, "a multiple of the day's average"), FLEET_DEFAULTS.peakFactor),
  trafficFactor: v.optional(atLeast(0, 'a multiple of the planned peak'), FLEET_DEFAULTS.trafficFactor),
  serverCapacity: v.optional(
    within((value) => value > 0, 'a number of requests per second above 0'),
    FLEET_DEFAULTS.serverCapacity,
  ),
  targetLoad: v.optional(
    within(
      (value) => value > 0 && value < 1,
      'a share above 0 and below 1 (60 % is 0.6): at 1 nothing would be left for a spike',
    ),
    FLEET_DEFAULTS.targetLoad,
  ),
  lostShare: v.optional(
    within(
      (value) => value >= 0 && value < 1,
      'a share of at least 0 and below 1 (50 % is 0.5): a server that lost all of its CPU is down',
    ),
    FLEET_DEFAULTS.lostShare,
  ),
  reportInterval: v.optional(
    within(
      (value) => value > 0 && value <= LONGEST_INTERVAL,
      `a number of seconds above 0 and at most ${LONGEST_INTERVAL} (2,000 ms are 2)`,
    ),
    FLEET_DEFAULTS.reportInterval,
  ),
  servers: v.optional(whole(1)),
})

/** How an input is shown to people. */
export interface FleetField {
  readonly label: string
  readonly unit: string
  /** What it means, or where its usual value comes from. */
  readonly hint: string
}

/** The inputs in the order in which the estimate uses them. */
export const fleetFields: Readonly<Record<keyof FleetInputs, FleetField>> = {
  dailyActiveUsers: { label: 'users a day', unit: 'users', hint: 'who come on one day' },
  requestsPerUserPerDay: {
    label: 'requests of a user a day',
    unit: 'requests',
    hint: 'that reach a server, whatever sends them',
  },
  peakFactor: {
    label: 'peak factor',
    unit: 'times the average',
    hint: 'the busiest hour over the average; 2 where nothing better is known',
  },
  trafficFactor: {
    label: 'traffic now',
    unit: 'times the planned peak',
    hint: 'the number of servers stays as planned for 1',
  },
  serverCapacity: {
    label: 'capacity of a server',
    unit: 'requests/s',
    hint: 'found by a load test of one server until it can go no faster',
  },
  targetLoad: {
    label: 'target load',
    unit: '0 to 1',
    hint: 'the rest is for spikes and background work; 0.5 to 0.7 is common',
  },
  lostShare: {
    label: 'CPU that one server loses',
    unit: '0 to 1',
    hint: 'to a backup, a neighbour or a fault',
  },
  reportInterval: {
    label: 'report interval',
    unit: 's',
    hint: 'how often a server is heard; 1 to 5 s is common',
  },
  servers: { label: 'servers that run', unit: 'servers', hint: 'as many as planned unless given' },
}
