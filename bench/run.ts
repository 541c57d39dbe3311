import { Bench, type Task } from 'tinybench'
import { type BenchCase, type CaseResult, keyOf, type Topic } from './case.js'
import { Chance } from './chance.js'
import { median, quantile, type Spread, spreadOf } from './statistics.js'

const MS = 1e6

/** Samples of the floor at each end of a case. */
const FLOOR_SAMPLES = 5

/** What one case came to in one round. */
export interface RoundResult {
  readonly key: string
  /** Median of its samples, ns a unit. */
  readonly ns: number
  /** The same in floors. NaN where there is none. */
  readonly floors: number
}

interface Entry {
  readonly of: BenchCase
  readonly topic: Topic
  readonly task: Task
  readonly ns: number[]
  readonly floors: number[]
  readonly samples: number[]
}

/** A case, and where it stands. */
export interface Listed {
  readonly topic: Topic
  readonly of: BenchCase
}

/**
 * Runs all cases in rounds, each round in another order, so that whatever slows the machine for a while slows all of
 * them alike.
 *
 * The clock of a shared machine changes by half, for seconds: so each case is compared with the floor of its moment.
 */
export class Rounds {
  readonly #entries: readonly Entry[]
  readonly #chance = new Chance(3)
  readonly #floor: (() => number) | undefined
  readonly #floors: number[] = []

  /** @param floor takes one sample of the floor, ms a call */
  constructor(cases: readonly Listed[], effort: number, floor?: () => number) {
    this.#entries = cases.map(({ of, topic }) => entryOf(of, topic, effort))
    this.#floor = floor
  }

  /** @param counts false: to warm up */
  run(counts = true): RoundResult[] {
    return this.#chance.shuffle([...this.#entries]).map((entry) => {
      const { of, task } = entry
      of.beforeRound?.()
      const before = this.#sampleFloor()
      const taken = takeSamples(task)
      const after = this.#sampleFloor()
      const middle = median(taken)
      const result = { key: keyOf(of), ns: middle * MS, floors: (2 * middle) / (before + after) }
      if (counts) {
        this.#floors.push(before * MS, after * MS)
        entry.ns.push(result.ns)
        entry.floors.push(result.floors)
        for (const sample of taken) entry.samples.push(sample * MS)
      }
      return result
    })
  }

  /** Of the rounds that counted. */
  results(): CaseResult[] {
    return this.#entries.map(({ of, topic, ns, floors, samples }) => ({
      topic,
      name: of.name,
      engine: of.engine,
      nodes: of.nodes,
      unit: of.unit ?? 'pick',
      ns: spreadOf(ns),
      ...(this.#floor === undefined ? {} : { floors: spreadOf(floors) }),
      p99: quantile(samples, 0.99),
      samples: samples.length,
    }))
  }

  /** The floor over the whole time, ns a call: how steady the machine was. Undefined without one. */
  floorSpread(): Spread | undefined {
    return this.#floor === undefined ? undefined : spreadOf(this.#floors)
  }

  #sampleFloor(): number {
    if (this.#floor === undefined) return Number.NaN
    return median(Array.from({ length: FLOOR_SAMPLES }, this.#floor))
  }
}

/** The first round warms up and does not count. */
export async function runRounds(
  run: Rounds,
  rounds: number,
  onRound: (round: number, rounds: number) => void,
): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    run.run(round > 0)
    onRound(round, rounds)
    // Timers and messages of the balancers.
    await new Promise(setImmediate)
  }
}

// A bench for each case: the number of iterations is a bench's. Time is no limit, since the cases take it themselves.
function entryOf(of: BenchCase, topic: Topic, effort: number): Entry {
  const iterations = Math.max(1, Math.round(of.iterations * effort))
  const bench = new Bench({ iterations, time: 0, warmup: false, retainSamples: true, throws: true })
  bench.add(of.name, () => ({ overriddenDuration: of.sample() }))
  return { of, topic, task: bench.tasks[0] as Task, ns: [], floors: [], samples: [] }
}

function takeSamples(task: Task): readonly number[] {
  task.reset()
  task.runSync()
  const { result } = task
  if (result.state !== 'completed' || result.latency.samples === undefined) {
    throw new Error(`${task.name} took no samples: ${result.state}`)
  }
  return result.latency.samples
}
