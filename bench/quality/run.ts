import type { Policy } from '../../dist/simulation/policy.js'
import type { Reporter, Scene } from '../../dist/simulation/scene.js'
import { simulate } from '../../dist/simulation/simulation.js'
import type { QualityScene } from './scenes.js'

/** A policy as it is judged: made anew for each run, since it may keep things over all balancers of one. */
export interface Contender {
  readonly name: string
  /** What servers answer to its probes. */
  readonly probe?: Reporter
  readonly make: () => Policy
}

/** What came of one policy in one scene: means over the runs, times in ms. */
export interface Outcome {
  readonly scene: string
  readonly policy: string
  readonly runs: number
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** Largest share of one node in any window of any run, as a multiple of an equal share. */
  readonly worst: number
  /** Requests that failed, over those that arrived. */
  readonly failed: number
  /** What the watched server was sent in each window from the moment on, likewise; the largest of all runs. */
  readonly watched: readonly number[]
}

/** Runs a policy over a scene once a seed, each time on the same requests as every other policy. */
export function runScene(
  scene: QualityScene,
  contender: Contender,
  requests: number,
  seeds: readonly number[],
): Outcome {
  const runs = seeds.map((seed) => runOnce(scene, contender, requests, seed))
  const mean = (of: (run: Run) => number) => runs.reduce((sum, run) => sum + of(run), 0) / runs.length
  const watched = (runs[0]?.watched ?? []).map((_, i) => Math.max(...runs.map((run) => run.watched[i] ?? 0)))
  return {
    scene: scene.name,
    policy: contender.name,
    runs: runs.length,
    mean: mean(({ result }) => result.response.mean),
    p50: mean(({ result }) => result.response.p50),
    p99: mean(({ result }) => result.response.p99),
    p999: mean(({ result }) => result.response.p999),
    worst: Math.max(...runs.map(({ worst }) => worst)),
    failed: mean(({ result }) => 1 - result.requests.completed / result.requests.arrived),
    watched,
  }
}

interface Run {
  readonly result: ReturnType<typeof simulate>
  readonly worst: number
  readonly watched: readonly number[]
}

function runOnce({ make, watched }: QualityScene, contender: Contender, requests: number, seed: number): Run {
  const shares: number[] = []
  const scene: Scene = {
    ...make(requests, seed),
    ...(contender.probe === undefined ? {} : { probe: contender.probe }),
    onWindow: (start, sent) => {
      if (watched === undefined || start < watched.from) return
      const total = sent.reduce((sum, count) => sum + count, 0)
      shares.push(((sent[watched.server] ?? 0) * sent.length) / total)
    },
  }
  const result = simulate(scene, contender.make(), seed)
  const worst = (result.worstWindow?.share ?? Number.NaN) * scene.servers.length
  return { result, worst, watched: shares }
}
