import { OptionError } from '../errors.js'
import { checkOptions, type Finding, findWrong } from '../options.js'
import { type FleetInputs, fleetOptions } from './inputs.js'
import { type FleetStep, stepsOf } from './steps.js'

/** The numbers of an estimate, none of them rounded. */
export interface FleetFigures {
  /** Requests a second, over the day. */
  readonly average: number
  /** Requests a second in the busiest hour. */
  readonly peak: number
  /** Servers that the peak is planned with, at least 1. */
  readonly planned: number
  /** Servers that the traffic of now takes at the target load, at least 1. */
  readonly needed: number
  /** Servers that carry the traffic: those that run where that was given, else as planned. */
  readonly servers: number
  /** Requests a second that flow now: `peak * trafficFactor`. */
  readonly traffic: number
  /** Requests a second that each server gets of that. */
  readonly perServer: number
  /** Load of each server: 1 is all that it can do. */
  readonly load: number
  /** Load of a server that lost a share of its CPU, where each server gets as many requests. Over 1 its queue grows. */
  readonly equalShare: number
  /** Load of every server, that one included, where each gets requests by what it can do. */
  readonly bySpareCapacity: number
  /** Requests that one server is sent between two of its reports, where all go to the least loaded. */
  readonly perReport: number
}

/** What {@link estimateFleet} gives. */
export interface FleetEstimate extends FleetFigures {
  /** What it was estimated from, defaults included. */
  readonly inputs: Readonly<FleetInputs>
  /** How it came about, with the formula and the numbers of each step. */
  readonly steps: readonly FleetStep[]
}

/** What is wrong with inputs: the input's name, and what would be right. */
export type FleetFaults = { readonly [K in keyof FleetInputs]?: string }

const SECONDS_A_DAY = 86_400

/**
 * The next whole number. Where a quotient is whole but for the error of its own arithmetic, it is that: 57 requests a
 * second by servers of 100 at a target of 0.57 come out as 1.0000000000000002 servers, and are 1.
 */
function ceil(value: number): number {
  const whole = Math.round(value)
  // Six roundings, half of an EPSILON each at most, and as much again for inputs that are no binary fractions.
  return Math.abs(value - whole) <= 6 * Number.EPSILON * value ? whole : Math.ceil(value)
}

// Throws OptionError where something is more than a number can hold.
function figuresOf(inputs: FleetInputs): FleetFigures {
  const failed = (option: keyof FleetInputs, expected: string) =>
    new OptionError(option, inputs[option], expected)
  const { trafficFactor, serverCapacity, targetLoad, lostShare, reportInterval } = inputs
  const less = 'a smaller number: what comes of it is more than a number can hold'
  const average = (inputs.dailyActiveUsers * inputs.requestsPerUserPerDay) / SECONDS_A_DAY
  if (!Number.isFinite(average)) throw failed('dailyActiveUsers', less)
  const peak = average * inputs.peakFactor
  if (!Number.isFinite(peak)) throw failed('peakFactor', less)
  // Without any traffic there still is a server: it is what load and loss are of.
  const planned = Math.max(1, ceil(peak / (serverCapacity * targetLoad)))
  if (!Number.isSafeInteger(planned)) {
    throw failed('serverCapacity', `enough that ${Number.MAX_SAFE_INTEGER} servers carry the peak`)
  }
  const servers = inputs.servers ?? planned
  const all = servers * serverCapacity
  if (!Number.isFinite(all)) throw failed('serverCapacity', less)
  const traffic = peak * trafficFactor
  const needed = Math.max(1, ceil(traffic / (serverCapacity * targetLoad)))
  const load = traffic / all
  const equalShare = load / (1 - lostShare)
  const bySpareCapacity = (load * servers) / (servers - lostShare)
  if (![traffic, needed, load, equalShare, bySpareCapacity].every(Number.isFinite)) {
    throw failed('trafficFactor', less)
  }
  const perReport = traffic * reportInterval
  if (!Number.isFinite(perReport)) throw failed('reportInterval', less)
  const perServer = traffic / servers
  return {
    average,
    peak,
    planned,
    needed,
    servers,
    traffic,
    perServer,
    load,
    equalShare,
    bySpareCapacity,
    perReport,
  }
}

function estimateOf(inputs: FleetInputs): FleetEstimate {
  const figures = figuresOf(inputs)
  return { inputs, ...figures, steps: stepsOf(inputs, figures) }
}

/**
 * How many servers a fleet needs, how loaded they are, what happens where one of them loses a part of its CPU, and how
 * many requests go astray between two reports: capacity planning on the back of an envelope. Every input that is not
 * given has the value of the example: a million users of 50 requests a day, twice the average at the peak, servers of
 * 200 requests a second planned for 60 % load, one of which loses half of its CPU, and reports every 2 s.
 *
 * Unrounded numbers are carried from step to step. All of them are finite.
 *
 * @example
 * ```ts
 * const { servers, steps } = estimateFleet({ dailyActiveUsers: 3_000_000 })
 * ```
 * @throws OptionError for the first input that is unknown, no number or out of range, and where the result is more than
 * a number can hold
 */
export function estimateFleet(inputs: Partial<FleetInputs> = {}): FleetEstimate {
  return estimateOf(checkOptions('', inputs, fleetOptions))
}

/** As {@link estimateFleet}, but gives all that is wrong, by input, in place of throwing; for a form. */
export function tryFleet(
  inputs: Partial<FleetInputs>,
): { readonly estimate: FleetEstimate } | { readonly faults: FleetFaults } {
  const checked = findWrong('', inputs, fleetOptions)
  // Of several faults of one input the first is told.
  if (!checked.ok) return { faults: faultsOf(checked.wrong.toReversed()) }
  try {
    return { estimate: estimateOf(checked.value) }
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    return { faults: { [error.option]: error.expected } }
  }
}

function faultsOf(wrong: readonly Finding[]): FleetFaults {
  return Object.fromEntries(wrong.map(({ path, expected }) => [path[0], expected]))
}
