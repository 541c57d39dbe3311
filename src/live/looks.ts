import { setImmediate as nextTurn } from 'node:timers/promises'
import { definitionOfKind } from '../algorithms/registry.js'
import type { Rules } from '../balancer/reasons.js'
import type { NodeSnapshot } from '../balancer/snapshot.js'
import type { BalancerStats } from '../balancer/stats.js'
import type { Clock } from '../clock.js'
import type { PollerCounters } from '../poller/poller.js'
import { COLUMNS, type ColumnCells, cellOf } from './columns.js'
import type { LiveHead, LivePoll } from './live-view.js'

/** A balancer, as far as it is shown. */
export interface Watched {
  readonly name: string
  readonly clock: Clock
  /** Pause between two poll cycles, ms; undefined where nobody polls. */
  readonly pollInterval: number | undefined
  rules(): Rules
  stats(): BalancerStats
  snapshotParts(): Iterable<readonly NodeSnapshot[]>
}

/** What one look at a balancer gave. */
export interface Look {
  readonly head: LiveHead
  /** How many members there are. */
  readonly count: number
  /** By the names of `COLUMNS`. */
  readonly columns: ReadonlyMap<string, ColumnCells>
}

/** Picks so far at some time. */
interface Counted {
  readonly time: number
  readonly picks: number
  readonly byNode: ReadonlyMap<string, number>
}

/** Looks at a balancer now and then, and says how many picks there were in between. */
export class Looks {
  readonly #watched: Watched
  readonly #interval: number
  readonly #start: number
  #before: Counted

  /** @param interval for those who watch, ms: how often looks are taken */
  private constructor(watched: Watched, interval: number, before: Counted) {
    this.#watched = watched
    this.#interval = interval
    this.#before = before
    this.#start = before.time
  }

  /** Notes how many picks there were before. */
  static async from(watched: Watched, interval: number): Promise<Looks> {
    return new Looks(watched, interval, await countIn(watched, () => {}))
  }

  /** Lets the event loop turn while it looks. Take one look at a time. */
  async look(): Promise<Look> {
    const stats = this.#watched.stats()
    const before = this.#before
    const time = this.#watched.clock.now()
    const perSecond = (picks: number) => (time > before.time ? (picks / (time - before.time)) * 1_000 : 0)
    const cells = COLUMNS.map(() => [] as ColumnCells[number][])
    let count = 0
    const now = await countIn(this.#watched, (node) => {
      count++
      const earlier = before.byNode.get(node.id) ?? 0
      // Fewer than before: it has left, and come back.
      const rate = perSecond(node.picks < earlier ? node.picks : node.picks - earlier)
      for (const [k, column] of COLUMNS.entries()) cells[k]?.push(cellOf(column, node, rate))
    })
    this.#before = now
    const head = this.#head(stats, now, now.time - before.time, perSecond(now.picks - before.picks))
    return { head, count, columns: new Map(COLUMNS.map(({ name }, k) => [name, cells[k] ?? []])) }
  }

  #head(stats: BalancerStats, now: Counted, window: number, picksPerSecond: number): LiveHead {
    const { name, pollInterval = 0 } = this.#watched
    const rules = this.#watched.rules()
    return {
      balancer: name,
      engine: stats.engine,
      algorithm: rules.algorithm,
      value: definitionOfKind(rules.algorithm).column,
      rules,
      time: now.time - this.#start,
      uptime: process.uptime() * 1_000,
      interval: this.#interval,
      window,
      poll: stats.poll && pollOf(stats.poll, pollInterval),
      picks: now.picks,
      picksPerSecond,
      empty: stats.picks.empty,
      stats,
    }
  }
}

/** Counts picks by member. Lets the event loop turn between some dozens of them. */
async function countIn(watched: Watched, each: (node: NodeSnapshot) => void): Promise<Counted> {
  const time = watched.clock.now()
  const { picks } = watched.stats()
  const byNode = new Map<string, number>()
  let isFirst = true
  for (const part of watched.snapshotParts()) {
    // Those of the part before were looked at in a turn of their own.
    if (isFirst) isFirst = false
    else await nextTurn()
    for (const node of part) {
      byNode.set(node.id, node.picks)
      each(node)
    }
  }
  return { time, picks: picks.picks + picks.arrayPicks, byNode }
}

function pollOf(counters: PollerCounters, interval: number): LivePoll {
  const { cycles, asked, stored, pushed, error, exit, failing } = counters
  return { interval, cycles, asked, stored: stored + pushed.stored, errors: error, exits: exit, failing }
}
