import { Bench, type Task } from 'tinybench'
import type { BenchCase, CaseResult } from './case.js'
import { Chance } from './chance.js'
import type { Settings } from './settings.js'
import { median, quantile } from './statistics.js'

const MS = 1e6

/** Samples of the floor at each end of a case. */
const FLOOR_SAMPLES = 5

interface Entry {
  readonly of: BenchCase
  readonly task: Task
  readonly medians: number[]
  readonly floors: number[]
  readonly samples: number[]
}

/**
 * Runs all cases in rounds, each round in another order, so that whatever slows the machine for a while slows all of
 * them alike. The first round warms up and does not count.
 *
 * The clock of a shared machine changes by half, for seconds: so each case is compared with the floor of its moment.
 *
 * @param floor takes one sample of the floor, ms a call
 */
export async function runCases(
  cases: readonly BenchCase[],
  { rounds, effort }: Settings,
  onRound: (round: number, rounds: number) => void,
  floor?: () => number,
): Promise<CaseResult[]> {
  const entries = cases.map((of) => entryOf(of, effort))
  const chance = new Chance(3)
  for (let round = 0; round <= rounds; round++) {
    for (const { of, task, medians, floors, samples } of chance.shuffle([...entries])) {
      of.beforeRound?.()
      const before = sampleFloor(floor)
      const taken = takeSamples(task)
      const after = sampleFloor(floor)
      if (round === 0) continue
      const middle = median(taken)
      medians.push(middle)
      floors.push((2 * middle) / (before + after))
      for (const sample of taken) samples.push(sample)
    }
    onRound(round, rounds)
    // Timers and messages of the balancers.
    await new Promise(setImmediate)
  }
  return entries.map(({ of, medians, floors, samples }) => ({
    name: of.name,
    engine: of.engine,
    nodes: of.nodes,
    unit: of.unit ?? 'pick',
    nsPerPick: median(medians) * MS,
    floors: floor === undefined ? undefined : median(floors),
    p99: quantile(samples, 0.99) * MS,
    samples: samples.length,
  }))
}

// A bench for each case: the number of iterations is a bench's. Time is no limit, since the cases take it themselves.
function entryOf(of: BenchCase, effort: number): Entry {
  const iterations = Math.max(1, Math.round(of.iterations * effort))
  const bench = new Bench({ iterations, time: 0, warmup: false, retainSamples: true, throws: true })
  bench.add(of.name, () => ({ overriddenDuration: of.sample() }))
  return { of, task: bench.tasks[0] as Task, medians: [], floors: [], samples: [] }
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

function sampleFloor(floor: (() => number) | undefined): number {
  if (floor === undefined) return Number.NaN
  return median(Array.from({ length: FLOOR_SAMPLES }, floor))
}
