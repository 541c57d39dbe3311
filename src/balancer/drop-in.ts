import { threadId } from 'node:worker_threads'
import * as v from 'valibot'
import {
  type Algorithm,
  defaultAlgorithm,
  engineAlgorithmOf,
  needsOf,
  probingOf,
  userMadeOf,
} from '../algorithms/registry.js'
import type { Clock, TimerHandle } from '../clock.js'
import { NO_ONE, unknownDraw } from '../engine/engine.js'
import { chooseEngine } from '../engine/load.js'
import { NoNodesError, OptionError, TableError, UnknownLoadError } from '../errors.js'
import { checkOptions, milliseconds, options } from '../options.js'
import { processClock } from '../process-clock.js'
import { toSeed } from '../seed.js'
import type { Table } from '../table/table.js'
import { publishEmptySelect } from '../telemetry.js'
import { warn } from '../warn.js'
import type { ArrayPicker, ArrayPicksOptions } from './array-picks.js'
import { createBalancer, tableFor } from './balancer.js'
import type { Balancer } from './contract.js'
import { turnsFor } from './cores.js'
import { runnerOf } from './custom.js'
import { arrayPickerOf } from './custom-arrays.js'
import { idOf, type NodeLike } from './node.js'
import { type PollOptions, pollOption, sharedEntries } from './options.js'

/** Options of `configure`, for the module-level `select`. */
export interface ConfigureOptions {
  /** How to pick. Default `adaptive()`, which is `spareCapacity()` for arrays: nobody tells how these picks end. */
  algorithm?: Algorithm | undefined
  /** Polls the nodes that `select` is shown. Default false: over readings that others in the process collect. */
  poll?: PollOptions | false | undefined
  /**
   * Nodes that were not shown for so long are polled no more, ms; at least twice `poll.interval`. Default 600,000: 10
   * minutes.
   */
  forgetAfter?: number | undefined
  /** Fixes the sequence of picks; a whole number from 0 to 2^53 - 1. Default: by chance. */
  seed?: number | undefined
  /** Where time comes from, as for `createBalancer`. Default: the process's monotonic clock. */
  clock?: Clock | undefined
  /** The table to share, from `createTable()`, as for `createBalancer`. Default: the process's own. */
  table?: Table | undefined
  /** Which engine, as for `createBalancer`. Default `'auto'`. */
  engine?: 'auto' | 'native' | 'portable' | undefined
}

const configureOptions = options({
  ...sharedEntries,
  poll: v.optional(pollOption, false),
  forgetAfter: v.optional(milliseconds(1), 600_000),
})

const NAME = 'select'

/** Picks from whatever arrays it is shown, over the readings of a table; polls the nodes in them if asked to. */
class DropIn {
  readonly #picks: ArrayPicker
  readonly #clock: Clock
  readonly #balancer: Balancer | undefined
  readonly #forgetAfter: number
  readonly #shown = new Map<string, number>()
  #timer: TimerHandle
  #warned = false

  constructor(given: ConfigureOptions) {
    const checked = checkOptions('configure', given, configureOptions)
    const table = tableFor(checked.table, checked.clock)
    const algorithm = checked.algorithm ?? defaultAlgorithm()
    if (needsOf(algorithm).self) {
      throw new OptionError(
        'algorithm',
        algorithm,
        `another than ${algorithm.kind}(): select(nodes) knows no local node`,
      )
    }
    if (probingOf(algorithm) !== undefined) {
      throw new OptionError(
        'algorithm',
        algorithm,
        `another than ${algorithm.kind}(): select(nodes) does not probe nodes`,
      )
    }
    if (checked.poll !== false) checkForgetAfter(checked.forgetAfter, checked.poll.interval)
    this.#clock = table.clock
    this.#forgetAfter = checked.forgetAfter
    const { memory, clock } = table
    const seed = toSeed(checked.seed)
    const arrays: ArrayPicksOptions = {
      engine: chooseEngine(checked.engine),
      memory,
      directory: table,
      algorithm,
      seed,
      thread: threadId,
      turns: turnsFor(algorithm, seed),
      self: undefined,
      clock,
      exact: clock !== processClock,
      check: () => {},
      standings: { out: new Set(), ill: new Set() },
      onShown: checked.poll === false ? undefined : (id) => this.#show(id),
    }
    const counters = { badPicks: 0, hookErrors: 0 }
    const custom = runnerOf(algorithm, { name: NAME, memory, clock, seed, counters })
    this.#picks = arrayPickerOf(arrays, custom)
    if (checked.poll !== false) {
      const { seed, engine } = checked
      // It polls and picks nothing, so that the user's algorithm is left to who picks.
      const polled = userMadeOf(algorithm) === undefined ? algorithm : engineAlgorithmOf(algorithm)
      this.#balancer = createBalancer({
        name: NAME,
        algorithm: polled,
        poll: checked.poll,
        seed,
        engine,
        table,
      })
      this.#sweepLater()
    }
  }

  select<T extends NodeLike>(nodes: readonly T[]): T {
    const index = this.#picks.select(nodes)
    const picked = nodes[index]
    // Also undefined where the array lost it while its ids were read.
    if (picked !== undefined) return picked
    const unknown = index < NO_ONE ? nodes[unknownDraw(index)] : undefined
    if (unknown !== undefined) throw new UnknownLoadError(idOf(unknown))
    publishEmptySelect(NAME, 0)
    throw new NoNodesError('select(nodes) was given no node that may be picked')
  }

  async close(): Promise<void> {
    this.#picks.close()
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    await this.#balancer?.close()
  }

  #show(id: string): void {
    if (this.#shown.has(id) || this.#poll(id)) this.#shown.set(id, this.#clock.now())
  }

  // A pick does not fail for want of room to poll: this node counts as missing until others were forgotten.
  #poll(id: string): boolean {
    try {
      this.#balancer?.add(id)
      return true
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      this.#warnOfFullTable(error)
      return false
    }
  }

  #warnOfFullTable({ message }: TableError): void {
    if (this.#warned) return
    this.#warned = true
    warn(`${NAME} is shown more nodes than it can poll: ${message}`, 'IDLEST_TABLE')
  }

  #sweepLater(): void {
    this.#timer = this.#clock.setTimeout(() => {
      const oldest = this.#clock.now() - this.#forgetAfter
      for (const [id, time] of this.#shown) {
        if (time >= oldest) continue
        this.#shown.delete(id)
        this.#balancer?.remove(id)
      }
      this.#sweepLater()
    }, this.#forgetAfter / 10)
  }
}

// An array that comes again is looked at whole once a publication, so nodes in use are seen once a poll interval.
function checkForgetAfter(forgetAfter: number, interval: number): void {
  if (forgetAfter >= 2 * interval) return
  throw new OptionError('forgetAfter', forgetAfter, `at least twice poll.interval: ${2 * interval} ms`)
}

let dropIn: DropIn | undefined

/**
 * One of these nodes: in place of `nodes[Math.floor(Math.random() * nodes.length)]`. Strings, or objects with an
 * `id`; what is returned is the very element that was passed. Goes by the readings that anything in this process
 * collects; without any, a uniform random pick.
 *
 * @example
 * ```ts
 * const node = select(nodes)
 * const response = await fetch(`http://${node}/`)
 * ```
 * @throws NoNodesError where the array is empty
 * @throws BadNodeError for an element that is not a node
 * @throws UnknownLoadError where the algorithm was told to fail
 */
export function select<T extends NodeLike>(nodes: readonly T[]): T {
  dropIn ??= new DropIn({})
  return dropIn.select(nodes)
}

/**
 * Gives the module-level `select` an algorithm of its own, and with `poll` makes it poll the nodes that it is shown.
 * Replaces what was configured before.
 *
 * @example
 * ```ts
 * await configure({ algorithm: leastCpu({ threshold: 10 }), poll: { transport: httpTransport({ port: 9000 }) } })
 * ```
 * @throws OptionError (rejects), and then changes nothing
 * @returns resolves when what was configured before has stopped polling
 */
export async function configure(given: ConfigureOptions): Promise<void> {
  const next = new DropIn(given)
  const before = dropIn
  dropIn = next
  await before?.close()
}
