import type { Algorithm } from '../algorithms/registry.js'
import type { Lease } from '../balancer/lease.js'
import { SeatedBalancer } from '../balancer/seated.js'
import { type TrustOptions, trustOptions } from '../balancer/trust-options.js'
import type { Clock } from '../clock.js'
import type { EngineName } from '../engine/engine.js'
import { chooseEngine } from '../engine/load.js'
import { NoNodesError } from '../errors.js'
import { checkOptions } from '../options.js'
import type { Report } from '../report.js'
import { toSeed } from '../seed.js'
import { PUBLICATION_SPACING } from '../table/publications.js'
import { Table } from '../table/table.js'
import { SimulatedProbes } from './probes.js'
import { NONE } from './requests.js'
import { type Scene, serverName } from './scene.js'

/** What one simulated balancer is made with. */
export interface DispatcherSetting {
  /** How many servers there are; they go by index. */
  readonly servers: number
  /** Those that are there at the start. */
  readonly present: readonly number[]
  /** Virtual time. */
  readonly clock: Clock
  /** Probes a server, where the scene has probes; `answer` is called later, or never. */
  readonly probe?: ((server: number, answer: (report: Report) => void) => void) | undefined
  /** Another for each balancer of a simulation, 0 to 2^53 - 1. */
  readonly seed: number
}

/** One balancer, as the simulation sees it. */
export interface Dispatcher {
  /** What makes the picks; undefined where it is not an engine of ours. */
  readonly engine: EngineName | undefined
  /**
   * Picks a server, or `NONE`.
   * @param request its number, until `end` is told of it
   */
  begin(request: number): number
  /** A request has ended. `latency` in ms. */
  end(request: number, ok: boolean, latency: number): void
  report(server: number, report: Report): void
  join(server: number): void
  leave(server: number): void
  close(): void
}

/** A way to pick servers. */
export interface Policy {
  readonly name: string
  create(setting: DispatcherSetting): Dispatcher
}

/** A policy that is an algorithm of ours. */
export interface ShippedPolicy extends Policy {
  create(setting: DispatcherSetting): ShippedDispatcher
}

/** How `shipped` runs an algorithm. */
export interface ShippedOptions {
  /** Default `auto`. */
  readonly engine?: EngineName | 'auto' | undefined
  /** Whether picks are leases, so that requests in flight are counted. Default true. */
  readonly leases?: boolean | undefined
  /** Whether the balancer believes its servers. Default as for `createBalancer`. */
  readonly trust?: TrustOptions | undefined
}

/** How long readings count, ms: the published default is for polls of 5 s, slower ones need those that last longer. */
export function readingTtl({
  reportInterval,
  delay = 0,
}: Pick<Scene, 'delay'> & { readonly reportInterval: number }): number {
  return Math.max(10_000, 2 * reportInterval + delay)
}

/** A policy that is an algorithm of ours, run by the shipped balancer and engine. */
export function shipped(name: string, algorithm: Algorithm, options: ShippedOptions = {}): ShippedPolicy {
  return { name, create: (setting) => new ShippedDispatcher(name, algorithm, options, setting) }
}

interface SimulatedNode {
  readonly id: string
  readonly index: number
}

/** A balancer of ours over nodes `server-1` and so on. */
export class ShippedDispatcher implements Dispatcher {
  readonly engine: EngineName
  readonly balancer: SeatedBalancer<SimulatedNode>
  readonly #nodes: readonly SimulatedNode[]
  // By request. Not an array: each of many balancers has few of many numbers.
  readonly #leases: Map<number, Lease<SimulatedNode>> | undefined

  constructor(
    name: string,
    algorithm: Algorithm,
    { engine = 'auto', leases = true, trust = {} }: ShippedOptions,
    { servers, present, clock, seed, probe }: DispatcherSetting,
  ) {
    this.#nodes = Array.from({ length: servers }, (_, index) => ({ id: serverName(index), index }))
    this.balancer = new SeatedBalancer<SimulatedNode>({
      name,
      engine: chooseEngine(engine),
      table: new Table(clock, servers),
      exact: true,
      algorithm,
      seed: toSeed(seed),
      coalesce: PUBLICATION_SPACING,
      trust: checkOptions('trust', trust, trustOptions),
    })
    this.balancer.setNodes(present.map((index) => this.#nodes[index] as SimulatedNode))
    this.engine = this.balancer.engine
    if (probe !== undefined) {
      const indices = new Map(this.#nodes.map(({ id, index }) => [id, index]))
      const indexOf = (id: string) => indices.get(id) as number
      this.balancer.probeBy(new SimulatedProbes((id, answer) => probe(indexOf(id), answer), clock))
    }
    this.#leases = leases ? new Map() : undefined
  }

  begin(request: number): number {
    if (this.#leases === undefined) return this.balancer.trySelect()?.index ?? NONE
    try {
      const lease = this.balancer.acquire()
      this.#leases.set(request, lease)
      return lease.node.index
    } catch (error) {
      if (error instanceof NoNodesError) return NONE
      throw error
    }
  }

  end(request: number, ok: boolean, latency: number): void {
    this.#leases?.get(request)?.release({ ok, latency })
    this.#leases?.delete(request)
  }

  report(server: number, report: Report): void {
    this.balancer.report(this.#nodes[server] as SimulatedNode, report)
  }

  join(server: number): void {
    this.balancer.add(this.#nodes[server] as SimulatedNode)
  }

  leave(server: number): void {
    this.balancer.remove(this.#nodes[server] as SimulatedNode)
  }

  close(): void {
    this.balancer.close()
  }
}
