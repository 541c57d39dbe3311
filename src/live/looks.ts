import { definitionOfKind } from '../algorithms/registry.js'
import type { Rules } from '../balancer/reasons.js'
import type { NodeSnapshot } from '../balancer/snapshot.js'
import type { BalancerStats } from '../balancer/stats.js'
import type { Clock } from '../clock.js'
import type { PollerCounters } from '../poller/poller.js'
import type { LiveHead, LivePoll } from './live-view.js'

/** A balancer, as far as it is shown. */
export interface Watched {
  readonly name: string
  readonly clock: Clock
  /** Pause between two poll cycles, ms; undefined where nobody polls. */
  readonly pollInterval: number | undefined
  rules(): Rules
  stats(): BalancerStats
  snapshot(): readonly NodeSnapshot[]
}

/** What one look at a balancer gave. */
export interface Look {
  readonly head: LiveHead
  readonly nodes: readonly NodeSnapshot[]
  /** Picks per second of each of these. */
  readonly rates: Float64Array
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
  constructor(watched: Watched, interval: number) {
    this.#watched = watched
    this.#interval = interval
    this.#before = this.#count(watched.snapshot(), watched.stats())
    this.#start = this.#before.time
  }

  look(): Look {
    const nodes = this.#watched.snapshot()
    const stats = this.#watched.stats()
    const before = this.#before
    const now = this.#count(nodes, stats)
    this.#before = now
    const perSecond = (picks: number) =>
      now.time > before.time ? (picks / (now.time - before.time)) * 1_000 : 0
    const rates = Float64Array.from(nodes, ({ id, picks }) => {
      const earlier = before.byNode.get(id) ?? 0
      // Fewer than before: it has left, and come back.
      return perSecond(picks < earlier ? picks : picks - earlier)
    })
    const picksPerSecond = perSecond(now.picks - before.picks)
    return { head: this.#head(stats, now, now.time - before.time, picksPerSecond), nodes, rates }
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

  #count(nodes: readonly NodeSnapshot[], { picks }: BalancerStats): Counted {
    return {
      time: this.#watched.clock.now(),
      picks: picks.picks + picks.arrayPicks,
      byNode: new Map(nodes.map((node) => [node.id, node.picks])),
    }
  }
}

function pollOf(counters: PollerCounters, interval: number): LivePoll {
  const { cycles, asked, stored, pushed, error, exit, failing } = counters
  return { interval, cycles, asked, stored: stored + pushed.stored, errors: error, exits: exit, failing }
}
