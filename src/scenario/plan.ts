import { closest } from 'fastest-levenshtein'
import { shown } from '../errors.js'
import type { Finding } from '../options.js'
import {
  type Change,
  capacity,
  reportFlights,
  type Scene,
  type ServerSpec,
  serverName,
} from '../simulation/scene.js'
import { MOST_PAIRS, MOST_REPORTS, MOST_REQUESTS, MOST_SERVERS, type Scenario } from './scenario.js'

/** Part of the time, from the start, that is not measured unless `warmup` says. */
const WARMUP_SHARE = 0.1

/** How many requests there are where neither they nor the duration are given. */
const DEFAULT_REQUESTS = 200_000

/** What a replay has by default: as much as there is. */
const ALL = MOST_REQUESTS

/** The servers of a scenario one by one, and what they are called. */
export interface Fleet {
  readonly specs: readonly ServerSpec[]
  readonly names: readonly string[]
}

/** The servers of a scenario. Those without a name are called by their number among all. */
export function fleetOf({ servers }: Scenario): Fleet {
  const specs: ServerSpec[] = []
  const names: string[] = []
  for (const { count, name, cores, speed, background, state } of servers) {
    for (let i = 0; i < count; i++) {
      names.push(name === undefined ? serverName(specs.length) : count === 1 ? name : `${name}-${i + 1}`)
      specs.push({ cores, speed, background: background / 100, state })
    }
  }
  return { specs, names }
}

/** Mean time that a request takes on a core of speed 1, ms. */
export function meanService({ service: { mean, constant, times = [] } }: Scenario): number {
  return mean ?? constant ?? times.reduce((sum, time) => sum + time, 0) / times.length
}

/** What the servers that are there at the start can do, requests per second. */
export function capacityOf(scenario: Scenario): number {
  const present = fleetOf(scenario).specs.filter(({ state }) => state !== 'gone')
  return capacity(present, meanService(scenario))
}

/** Requests per second; undefined where they come from a log. */
export function rateOf(scenario: Scenario): number | undefined {
  const { load, rate } = scenario.arrivals
  return load === undefined ? rate : (capacityOf(scenario) * load) / 100
}

/** Index of the server that a change or a weight refers to: by name, or by number from 1. */
function indexOf(names: readonly string[], reference: string | number): number {
  return typeof reference === 'number' ? reference - 1 : names.indexOf(reference)
}

function whichServer(names: readonly string[], reference: string | number): string {
  if (typeof reference === 'number') return `a server's number from 1 to ${names.length}`
  return `the name of a server; the nearest is ${shown(closest(reference, [...names]))}`
}

/** What is wrong with a scenario as a whole, though each of its parts is right. */
export function crossCheck(scenario: Scenario): Finding[] {
  const found: Finding[] = []
  const add = (path: Finding['path'], value: unknown, expected: string): void => {
    found.push({ path, value, expected, isName: false })
  }
  const { servers, changes, policies, requests, duration, arrivals } = scenario
  const total = servers.reduce((sum, { count }) => sum + count, 0)
  if (total > MOST_SERVERS) {
    add(['servers'], total, `at most ${MOST_SERVERS} servers in all`)
    return found
  }
  const { balancers, reportInterval } = scenario
  if (total * balancers > MOST_PAIRS) {
    add(['balancers'], balancers, `at most ${MOST_PAIRS} pairs of a balancer and a server`)
    return found
  }
  const { names } = fleetOf(scenario)
  const seen = new Set<string>()
  let first = 0
  for (const [i, { count }] of servers.entries()) {
    const twice = names.slice(first, first + count).find((name) => seen.has(name))
    if (twice !== undefined) add(['servers', i, 'name'], twice, 'a name that no other server has')
    for (const name of names.slice(first, first + count)) seen.add(name)
    first += count
  }
  for (const [i, { server }] of changes.entries()) {
    for (const [j, reference] of server.entries()) {
      if (reference === 'all' || names[indexOf(names, reference)] !== undefined) continue
      // Of one server there is no list in the file: its place is that of `server`.
      add(['changes', i, 'server', j], reference, whichServer(names, reference))
    }
  }
  const labels = new Set<string>()
  for (const [i, { label, weighted }] of policies.entries()) {
    if (labels.has(label)) add(['policies', i], label, 'a policy of another name: give one of them a name')
    labels.add(label)
    for (const name of weighted) {
      if (!seen.has(name)) {
        add(['policies', i, 'options', 'weights', name], name, whichServer(names, name))
      }
    }
  }
  if (requests !== undefined && duration !== undefined) {
    add(['duration'], duration, 'either requests or duration')
  }
  const rate = rateOf(scenario)
  if (rate === 0) add(['arrivals', 'load'], arrivals.load, 'a rate: the servers can do nothing at the start')
  else if (rate !== undefined && duration !== undefined && rate * duration > MOST_REQUESTS * 1000) {
    add(['duration'], duration, `at most ${MOST_REQUESTS} requests: less time, or a lower rate`)
  }
  const most =
    reportInterval === 0 ? 0 : ((lengthAt(scenario, rate) ?? 0) / reportInterval) * total * balancers
  if (most > MOST_REPORTS) {
    const expected = `at most ${MOST_REPORTS} reports in all: a longer interval, or fewer requests`
    add(['reportInterval'], reportInterval, expected)
  }
  return found
}

// How long requests arrive at a rate, ms.
function lengthAt({ requests = DEFAULT_REQUESTS, duration }: Scenario, rate: number | undefined) {
  return rate === undefined || rate === 0 ? undefined : (duration ?? (requests / rate) * 1000)
}

function changesOf({ changes }: Scenario, names: readonly string[]): Change[] {
  return changes.flatMap(({ at, server, speed, background, state }) => {
    const indices = server.flatMap((reference) =>
      reference === 'all' ? names.map((_, i) => i) : indexOf(names, reference),
    )
    return indices.map((index) => ({
      at,
      server: index,
      ...(speed !== undefined && { speed }),
      ...(background !== undefined && { background: background / 100 }),
      ...(state !== undefined && { state }),
    }))
  })
}

function serviceOf({ service: { mean, constant, times } }: Scenario): Scene['service'] {
  if (mean !== undefined) return { kind: 'exponential', mean }
  return { kind: 'given', times: times ?? [constant as number] }
}

/**
 * The scene of a scenario that passed {@link crossCheck}.
 * @param replayed when requests arrive, ms, ascending, where the scenario replays a log; not empty
 */
export function sceneOf(scenario: Scenario, replayed?: Float64Array): Scene {
  const { balancers, reportInterval, delay, timeout, failAfter, duration } = scenario
  const { specs, names } = fleetOf(scenario)
  const changes = changesOf(scenario, names)
  const rate = rateOf(scenario)
  let { requests } = scenario
  let length: number
  if (rate === undefined) {
    const times = replayed ?? new Float64Array(0)
    const inTime = duration === undefined ? times.length : times.findLastIndex((time) => time <= duration) + 1
    requests = Math.min(requests ?? ALL, inTime)
    length = times[requests - 1] ?? 0
  } else {
    requests ??= duration === undefined ? DEFAULT_REQUESTS : Math.max(1, Math.round((rate * duration) / 1000))
    length = (requests / rate) * 1000
  }
  return {
    servers: specs,
    balancers,
    requests,
    arrivals: rate === undefined ? { kind: 'replay', times: replayed ?? [] } : { kind: 'poisson', rate },
    service: serviceOf(scenario),
    reportInterval,
    probe: reportFlights,
    delay,
    failAfter,
    warmup: scenario.warmup ?? length * WARMUP_SHARE,
    timeout,
    ...(changes.length > 0 && { changes }),
  }
}

/** How long requests arrive in a scene, ms; on average where they come by chance. */
export function lengthOf({ arrivals, requests }: Scene): number {
  if (arrivals.kind === 'poisson') return (requests / arrivals.rate) * 1000
  return arrivals.times[Math.min(requests, arrivals.times.length) - 1] ?? 0
}
