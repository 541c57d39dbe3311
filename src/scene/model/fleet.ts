import { estimateFleet, type FleetEstimate, type FleetFaults, tryFleet } from '../../estimate/estimate.js'
import { plain } from '../../estimate/formats.js'
import type { FleetInputs } from '../../estimate/inputs.js'
import { DEFAULTS, type Inputs, isAllowed, type NumberInput, ranges } from './inputs.js'

/** Servers that are drawn of a fleet whose size was planned. */
const DRAWN_OF_PLANNED = 4
/** Servers that are drawn at most. */
export const MOST_DRAWN = 8
/** Requests per second that a page simulates at most. */
const MOST_RATE = 5_000
/** The least requests per second that are simulated: less than one in a thousand runs. */
const LEAST_RATE = 1e-6

/** Names of the estimate's inputs. */
export type FleetName = keyof FleetInputs

/** Where the scene's inputs hold those of the estimate. Both have the same units, except for the report interval. */
const fields: Readonly<Record<FleetName, NumberInput>> = {
  dailyActiveUsers: 'users',
  requestsPerUserPerDay: 'requests',
  peakFactor: 'peakFactor',
  trafficFactor: 'traffic',
  serverCapacity: 'capacity',
  targetLoad: 'targetLoad',
  servers: 'servers',
  lostShare: 'lost',
  reportInterval: 'reportInterval',
}

/** The estimate's inputs, in the order in which a page asks for them. */
export const fleetNames = Object.keys(fields) as readonly FleetName[]

/** An object with a value for each of the estimate's inputs. */
export function eachFleetName<T>(make: (name: FleetName) => T): Record<FleetName, T> {
  return Object.fromEntries(fleetNames.map((name) => [name, make(name)])) as Record<FleetName, T>
}

/** One of the estimate's inputs as the estimate has it: the report interval in seconds. */
export function fleetInput(inputs: Inputs, name: FleetName): number | undefined {
  const value = inputs[fields[name]]
  return name === 'reportInterval' && value !== undefined ? value / 1_000 : value
}

/** The estimate's inputs of the example, to set. */
export const exampleFleet: Partial<Inputs> = Object.fromEntries(
  Object.values(fields).map((field) => [field, DEFAULTS[field]]),
)

/** What somebody entered into the estimate. */
export type EnteredFleet = Readonly<Record<FleetName, number | undefined>>

/** The inputs that somebody's numbers for the estimate set; or the faults of these numbers. */
export function readFleet(
  entered: EnteredFleet,
): { readonly inputs: Partial<Inputs> } | { readonly faults: FleetFaults } {
  const result = tryFleet(Object.fromEntries(fleetNames.map((name) => [name, entered[name]])))
  if ('faults' in result) return result
  const values = eachFleetName((name) => {
    const value = entered[name]
    // 1.1 s are 1,100 ms, without the error of the product.
    return name === 'reportInterval' && value !== undefined ? Number((value * 1_000).toPrecision(15)) : value
  })
  const wrong = fleetNames.filter((name) => {
    const value = values[name]
    return value !== undefined && !isAllowed(fields[name], value)
  })
  if (wrong.length > 0) return { faults: Object.fromEntries(wrong.map((name) => [name, expected(name)])) }
  return { inputs: Object.fromEntries(fleetNames.map((name) => [fields[name], values[name]])) }
}

function expected(name: FleetName): string {
  const { min, max } = ranges[fields[name]]
  const unit = name === 'reportInterval' ? 1_000 : 1
  return `a number from ${plain(min / unit)} to ${plain(max / unit)}: the scene can show no other`
}

/** The part of the estimate's fleet that the scene shows. */
export interface SceneFleet {
  readonly estimate: FleetEstimate
  /** Servers that are drawn. */
  readonly drawn: number
  /** Requests per second that one of them can do. */
  readonly capacity: number
  /** Requests per second of the fleet that these servers get together. */
  readonly total: number
  /** Requests per second that arrive: all of these, or a part where they are too many to simulate. Above 0. */
  readonly rate: number
  /** Share of the fleet's requests and capacity that a drawn server has, 0-1: below 1 where a page can't simulate all. */
  readonly scale: number
}

/**
 * The fleet that the scene shows: of a fleet whose size was entered up to eight servers, of a planned one four. They get
 * their share of its requests, so that their load is that of the fleet.
 */
export function fleetOf(inputs: Inputs): SceneFleet {
  const estimate = estimateFleet(eachFleetName((name) => fleetInput(inputs, name)))
  const { servers, traffic } = estimate
  const drawn = Math.min(servers, inputs.servers === undefined ? DRAWN_OF_PLANNED : MOST_DRAWN)
  const total = (traffic * drawn) / servers
  const scale = Math.min(1, MOST_RATE / total)
  return {
    estimate,
    drawn,
    capacity: Math.max(inputs.capacity * scale, LEAST_RATE),
    total,
    rate: Math.max(total * scale, LEAST_RATE),
    scale,
  }
}

/** Index of the server that loses CPU: the second, where there are two. */
export function losingOf(inputs: Inputs): number {
  return Math.min(1, fleetOf(inputs).drawn - 1)
}
