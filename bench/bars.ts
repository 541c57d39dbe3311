import type { CaseName, CaseResult, Doer } from './case.js'
import { ALGORITHM_SIZES, ALGORITHMS, caseOf, nameOf, WEIGHTINGS } from './cases/algorithms.js'
import { CHANGES, CHANGES_NODES } from './cases/changes.js'
import { STRING_FLOOR } from './cases/floor.js'
import { KEYED_CASES, KEYED_NODES } from './cases/keyed.js'
import { ADAPTIVE_LEASES, LEASES } from './cases/leases.js'
import { FILE_AT_MOST, FILE_CASES } from './cases/shared-file.js'
import type { FleetResult } from './figures/fleet.js'
import type { GcResult } from './figures/gc.js'
import type { GrpcPolicyResult } from './figures/grpc-policies.js'
import {
  type Kind,
  MEASURED_SERVERS,
  type MeasuredServer,
  type MiddlewareResult,
} from './figures/middleware.js'
import type { NatsResult } from './figures/nats.js'
import type { PollResult } from './figures/poll.js'
import type { Sender, SenderResult } from './figures/undici.js'
import type { WaitsResult } from './figures/waits.js'
import { BYTES_A_MIB, count } from './numbers.js'
import type { Estimate, Spread } from './statistics.js'

/** What else is measured. Absent where it was not. */
export interface Figures {
  readonly gc?: readonly GcResult[]
  readonly tableBytes?: number
  readonly poll?: PollResult
  readonly fleet?: FleetResult
  /** A fleet that is heard by gRPC. */
  readonly streams?: FleetResult
  readonly nats?: NatsResult
  readonly waits?: readonly WaitsResult[]
  readonly middleware?: readonly MiddlewareResult[]
  readonly undici?: readonly SenderResult[]
  readonly grpcPolicies?: readonly GrpcPolicyResult[]
}

/** What a number is of, and so how it is written. */
export type BarUnit = 'times' | 'part' | 'µs' | 'ms' | 'MiB' | 'collections'

/** Something that idlest wants to reach. */
export interface Bar {
  readonly what: string
  readonly unit: BarUnit
  readonly atMost: number
  /** Undefined where it could not be measured. */
  readonly reached: number | undefined
  readonly met: boolean | undefined
  /** Where it may lie, where that is known: eight of ten rounds, or 95 % of confidence. */
  readonly between?: readonly [low: number, high: number]
  /** The one case that it is about, where it is. */
  readonly of?: CaseName
}

/** What a bar is compared with: a number, or one with where it may lie. */
type Reached = number | Spread | Estimate | undefined

const NS_A_MS = 1e6

/** Nodes of the table whose size is measured, and of the publication. */
export const LARGE = 10_000

/** Compares what was measured with what is wanted. */
export function barsOf(results: readonly CaseResult[], figures: Figures = {}): Bar[] {
  const find = (name: string, engine: Doer, nodes: number): CaseResult | undefined =>
    results.find((it) => it.name === name && it.engine === engine && it.nodes === nodes)
  // What is compared was not measured at the same moment: in floors of its own moment it can be.
  const floors = (...which: Parameters<typeof find>): number | undefined => find(...which)?.floors?.median
  /** A case to the floor. */
  const toFloor = (atMost: number, name: string, engine: Doer, nodes: number): Bar => ({
    ...bar(
      `${engine === '-' ? '' : `${engine} `}${name}, ${count(nodes)} nodes, to the floor`,
      'times',
      atMost,
      find(name, engine, nodes)?.floors,
    ),
    of: { name, engine, nodes },
  })
  /** What a case takes. */
  const inMs = (atMost: number, what: string, name: string, nodes: number): Bar => ({
    ...bar(what, 'ms', atMost, scaled(find(name, 'native', nodes)?.ns, 1 / NS_A_MS)),
    of: { name, engine: 'native', nodes },
  })
  const select8 = floors('select()', 'native', 8)
  const keyed = (name: string, atMost: number) => toFloor(atMost, name, 'native', KEYED_NODES)
  const { gc, tableBytes, poll } = figures
  return [
    toFloor(1.2, 'select()', 'native', 8),
    bar(
      'native select(), 10,000 nodes, to that at 8',
      'times',
      1.2,
      ratio(floors('select()', 'native', LARGE), select8),
    ),
    ...CHANGES_NODES.map((nodes) => toFloor(1.2, CHANGES, 'native', nodes)),
    ...[...ALGORITHMS.map((one) => ({ name: nameOf(one), atMost: one.atMost })), ...WEIGHTINGS].flatMap(
      ({ name, atMost }) => ALGORITHM_SIZES.map((nodes) => toFloor(atMost, caseOf(name), 'native', nodes)),
    ),
    bar(
      `native ${KEYED_CASES.ringKey}, to a call that takes them in`,
      'times',
      2,
      ratio(floors(KEYED_CASES.ringKey, 'native', KEYED_NODES), floors(STRING_FLOOR, 'native', 0)),
    ),
    keyed(KEYED_CASES.ringHash, 2.5),
    keyed(KEYED_CASES.maglevNumber, 1.8),
    keyed(KEYED_CASES.maglevHash, 1.8),
    inMs(10, `native ${KEYED_CASES.buildRing}, 1,000 nodes`, KEYED_CASES.buildRing, KEYED_NODES),
    inMs(1, `native ${KEYED_CASES.ringChange}`, KEYED_CASES.ringChange, KEYED_NODES),
    inMs(1, `native ${KEYED_CASES.maglevChange}`, KEYED_CASES.maglevChange, KEYED_NODES),
    toFloor(2, 'select(sameArray)', '-', 8),
    toFloor(2, 'balancer.select(sameArray)', 'native', 8),
    toFloor(12, 'select(freshArray)', '-', 8),
    toFloor(12, 'balancer.select(freshArray)', 'native', 8),
    toFloor(0.3, 'fill(1024)', 'native', 8),
    ...[FILE_CASES.select, FILE_CASES.random, FILE_CASES.least].map((name) =>
      toFloor(FILE_AT_MOST, name, 'native', 8),
    ),
    toFloor(5, LEASES, 'native', 8),
    toFloor(6, ADAPTIVE_LEASES, 'native', 8),
    bar(
      'native select() to the naive way, 8 nodes',
      'part',
      1 / 5,
      ratio(select8, floors('naive scan', '-', 8)),
    ),
    bar(
      'native select() to the naive way, 1,000 nodes',
      'part',
      1 / 500,
      ratio(floors('select()', 'native', 1_000), floors('naive scan', '-', 1_000)),
    ),
    inMs(2, 'first select() after publishing 10,000 readings', 'first select() after', LARGE),
    inMs(2, 'first select(array) after publishing 10,000 readings', 'first select(array) after', LARGE),
    bar('garbage collections in ten million picks, most of all ways', 'collections', 0, mostCollections(gc)),
    bar('table of 10,000 nodes', 'MiB', 2, tableBytes === undefined ? undefined : tableBytes / BYTES_A_MIB),
    bar(
      `longest poll cycle${poll === undefined ? '' : `, ${poll.agents} agents, ${poll.silent} silent`}`,
      'ms',
      (poll?.timeout ?? 2_000) + 500,
      poll === undefined || poll.durations.length === 0 ? undefined : Math.max(...poll.durations),
    ),
    ...MEASURED_SERVERS.flatMap((server) => {
      const measured = figures.middleware?.find((one) => one.server === server)
      return (['counted', 'reported'] as const).map((kind) =>
        bar(middlewareBar(server, kind), 'µs', 5, measured?.[kind]),
      )
    }),
    ...undiciBars(figures.undici),
    ...(['idlest_weighted_round_robin', 'idlest_adaptive'] as const).map((policy) =>
      bar(
        `CPU of a call of gRPC by ${policy}, to round_robin`,
        'times',
        1.2,
        figures.grpcPolicies?.find((one) => one.policy === policy)?.toRoundRobin,
      ),
    ),
  ]
}

/** What the bar of a middleware is about, where that kind of it has one. */
export function middlewareBar(server: MeasuredServer, kind: Kind): string {
  return `middleware of ${server}, a request ${kind === 'reported' ? 'with a report' : kind}`
}

/** As many requests a second as this part of what undici's own dispatchers send. */
const THROUGHPUT = 0.95

// Undici's own go in turn: what a dispatcher costs is seen where it does so too. What it is good for is seen by the default.
function undiciBars(results: readonly SenderResult[] = []): Bar[] {
  const find = (sender: Sender) => results.find((one) => one.sender === sender)
  const inTurn = find('BalancedDispatcher, roundRobin()')
  const usual = find('BalancedDispatcher, adaptive()')
  const others = [
    ['BalancedPool', 'BalancedPool', 'toBalancedPool'],
    ['RoundRobinPool', 'RoundRobinPool, one a server in turn', 'toRoundRobinPool'],
  ] as const
  return others.flatMap(([name, sender, throughput]) => [
    ...(
      [
        ['', usual],
        [' in turn', inTurn],
      ] as const
    ).map(([how, ours]) =>
      bar(
        `BalancedDispatcher${how}, time of a request to that of ${name}`,
        'times',
        1 / THROUGHPUT,
        inverse(ours?.[throughput]),
      ),
    ),
    bar(
      `BalancedDispatcher, p99 with a busy server to that of ${name}`,
      'part',
      1 / 2,
      ratio(usual?.p99, find(sender)?.p99),
    ),
  ])
}

function bar(what: string, unit: BarUnit, atMost: number, given: Reached): Bar {
  const reached = numberOf(given)
  const between = betweenOf(given)
  return {
    what,
    unit,
    atMost,
    reached,
    met: reached === undefined ? undefined : reached <= atMost,
    ...(between !== undefined && { between }),
  }
}

function numberOf(reached: Reached): number | undefined {
  if (typeof reached !== 'object') return reached
  return 'value' in reached ? reached.value : reached.median
}

function betweenOf(reached: Reached): readonly [number, number] | undefined {
  if (typeof reached !== 'object') return undefined
  return 'value' in reached ? [reached.low, reached.high] : [reached.p10, reached.p90]
}

function scaled(spread: Spread | undefined, by: number): Spread | undefined {
  return spread && { median: spread.median * by, p10: spread.p10 * by, p90: spread.p90 * by }
}

function inverse(estimate: Estimate | undefined): Estimate | undefined {
  return estimate && { value: 1 / estimate.value, low: 1 / estimate.high, high: 1 / estimate.low }
}

function ratio(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined ? undefined : part / whole
}

function mostCollections(gc: readonly GcResult[] | undefined): number | undefined {
  if (gc === undefined || gc.length === 0) return undefined
  return Math.max(...gc.flatMap(({ cases }) => cases.map(({ collections }) => collections)))
}
