import { Bench, type Task } from 'tinybench'
import type { BenchCase, CaseResult } from './case.js'
import { Chance } from './chance.js'
import type { Settings } from './settings.js'
import { median, quantile } from './statistics.js'

const MS = 1e6

interface Entry {
  readonly of: BenchCase
  readonly task: Task
  readonly medians: number[]
  readonly samples: number[]
}

/**
 * Runs all cases in rounds, each round in another order, so that whatever slows the machine for a while slows all of
 * them alike. The first round warms up and does not count.
 */
export async function runCases(
  cases: readonly BenchCase[],
  { rounds, effort }: Settings,
  onRound: (round: number, rounds: number) => void,
): Promise<CaseResult[]> {
  const entries = cases.map((of) => entryOf(of, effort))
  const chance = new Chance(3)
  for (let round = 0; round <= rounds; round++) {
    for (const { of, task, medians, samples } of chance.shuffle([...entries])) {
      of.beforeRound?.()
      const taken = takeSamples(task)
      if (round === 0) continue
      medians.push(median(taken))
      for (const sample of taken) samples.push(sample)
    }
    onRound(round, rounds)
    // Timers and messages of the balancers.
    await new Promise(setImmediate)
  }
  return entries.map(({ of, medians, samples }) => ({
    name: of.name,
    engine: of.engine,
    nodes: of.nodes,
    unit: of.unit ?? 'pick',
    nsPerPick: median(medians) * MS,
    p99: quantile(samples, 0.99) * MS,
    samples: samples.length,
  }))
}

// A bench for each case: the number of iterations is a bench's. Time is no limit, since the cases take it themselves.
function entryOf(of: BenchCase, effort: number): Entry {
  const iterations = Math.max(1, Math.round(of.iterations * effort))
  const bench = new Bench({ iterations, time: 0, warmup: false, retainSamples: true, throws: true })
  bench.add(of.name, () => ({ overriddenDuration: of.sample() }))
  return { of, task: bench.tasks[0] as Task, medians: [], samples: [] }
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
