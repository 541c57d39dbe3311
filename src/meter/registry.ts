import { threadId } from 'node:worker_threads'
import { type Algorithm, ttlOf } from '../algorithms/registry.js'
import { DEFAULT_TTL } from '../algorithms/ttl.js'
import type { Clock } from '../clock.js'
import { NodeTakenError, UnknownNodeError } from '../errors.js'
import type { TableMemory } from '../table/memory.js'
import { claimMetric } from '../table/metric-names.js'
import { MOST_OWNERS, Registration } from '../table/registration.js'
import { tableTime } from '../table/table.js'
import { type NodeMeter, SlotMeter } from './node-meter.js'
import { checkNodeMeterOptions, type NodeMeterOptions } from './options.js'

/** Where a node is in the table. */
interface Place {
  readonly id: string
  readonly slot: number
  readonly generation: number
}

/** A node that this balancer measures: one registration, a meter for each metric. */
interface Registered {
  readonly registration: Registration
  readonly meters: Map<string, NodeMeter>
}

// Those that have something registered: one listener for all, since Node.js warns of the eleventh.
const registries = new Set<MeterRegistry>()

// A thread that ends by itself takes its values with it. One that is terminated tells nothing, and lapses.
function onExit(): void {
  for (const registry of [...registries]) registry.close()
}

/** The nodes that one balancer of this thread measures. */
export class MeterRegistry {
  readonly #memory: TableMemory
  readonly #clock: Clock
  readonly #ttl: number
  readonly #lapse: number
  readonly #registered = new Map<string, Registered>()

  constructor(memory: TableMemory, clock: Clock, algorithm: Algorithm) {
    this.#memory = memory
    this.#clock = clock
    this.#ttl = ttlOf(algorithm) ?? DEFAULT_TTL
    // Also where readings never expire: a thread that was terminated must not keep its node for ever.
    this.#lapse = Number.isFinite(this.#ttl) ? this.#ttl : DEFAULT_TTL
  }

  /**
   * Registers a node, and gives the meter for it. Throws OptionError, UnknownNodeError where its slot is another's,
   * NodeTakenError, TableError where the table keeps four other named metrics.
   * @param find gives the node's place; called when the options have been read, whose getters may change the members
   */
  meter(find: () => Place, given: NodeMeterOptions): NodeMeter {
    const options = checkNodeMeterOptions(given, this.#ttl)
    const place = find()
    const metric = claimMetric(this.#memory, options.metric)
    const registered = this.#claim(place)
    const { registration, meters } = registered
    if (meters.has(options.metric)) throw new NodeTakenError(place.id, options.metric)
    const made = new SlotMeter(options, {
      memory: this.#memory,
      clock: this.#clock,
      slot: place.slot,
      generation: place.generation,
      metric,
      holds: () => registration.holds,
      renew: () => registration.renew(this.#now() + this.#lapse),
      withdraw: () => this.#withdraw(place.id, registered, options.metric),
    })
    meters.set(options.metric, made)
    return made
  }

  /** Closes all meters. */
  close(): void {
    const all = [...this.#registered.values()].flatMap(({ meters }) => [...meters.values()])
    for (const one of all) one.close()
  }

  // One that was lost, since this thread hung, may be claimed again when it lapses or is withdrawn.
  #claim({ id, slot, generation }: Place): Registered {
    const before = this.#registered.get(id)
    if (before?.registration.holds) return before
    const now = this.#now()
    const owner = threadId % (MOST_OWNERS + 1)
    const claimed = Registration.claim(this.#memory, slot, generation, owner, now, now + this.#lapse)
    if (!(claimed instanceof Registration)) {
      if (claimed.kind === 'left') throw new UnknownNodeError(id)
      throw new NodeTakenError(id, { thread: claimed.owner, lapses: claimed.until - now })
    }
    const registered = { registration: claimed, meters: new Map<string, NodeMeter>() }
    this.#registered.set(id, registered)
    if (registries.size === 0) process.on('exit', onExit)
    registries.add(this)
    return registered
  }

  // The node itself goes with its last meter.
  #withdraw(id: string, registered: Registered, metric: string): boolean {
    const { registration, meters } = registered
    meters.delete(metric)
    if (meters.size > 0) return registration.holds
    if (this.#registered.get(id) === registered) {
      this.#registered.delete(id)
      if (this.#registered.size === 0) registries.delete(this)
      if (registries.size === 0) process.off('exit', onExit)
    }
    return registration.withdraw()
  }

  #now(): number {
    return tableTime(this.#memory, this.#clock.now())
  }
}
