import { cpus } from 'node:os'
import { type Balancer, createBalancer, httpTransport, leastCpu } from '../../index.js'
import { packageVersion } from '../version.js'
import { availableCores } from './cores.js'
import type { View } from './frame.js'
import { LoadGenerator } from './load.js'
import { runPhase, type Stage } from './phase.js'
import { totalWork } from './plan.js'
import { idlest, roundRobin } from './policies.js'
import type { DemoResult, PhaseResult } from './result.js'
import {
  ALGORITHM,
  type DemoOptions,
  MEAN_WORK,
  makeScene,
  REPORT_INTERVAL,
  type Scene,
  SECOND_JOB,
} from './scene.js'
import { type Server, Servers } from './servers.js'

/**
 * Starts the servers, sends them the same requests first with round robin and then with idlest, and ends them.
 * Rejects with the signal's reason when that is aborted, with ServerFailure when a server ends by itself.
 */
export async function runDemo(options: DemoOptions, view: View, signal: AbortSignal): Promise<DemoResult> {
  const scene = makeScene(options)
  view.note('starting the servers')
  const servers = await Servers.start(scene.servers, signal)
  try {
    return await withServers(options, scene, servers, view, signal)
  } finally {
    await servers.stop()
  }
}

async function withServers(
  options: DemoOptions,
  scene: Scene,
  servers: Servers,
  view: View,
  signal: AbortSignal,
): Promise<DemoResult> {
  const failure = new AbortController()
  servers.failed.catch((error) => failure.abort(error))
  const either = AbortSignal.any([signal, failure.signal])
  const balancer = balanceAmong(servers.list, options.engine)
  const load = new LoadGenerator()
  try {
    await unlessAborted(balancer.ready(), either)
    view.begin(options, scene, balancer.engine)
    const stage: Stage = {
      scene,
      duration: options.duration,
      servers: servers.list,
      balancer,
      load,
      view,
      signal: either,
    }
    const phases = [await runPhase(stage, roundRobin(servers.list)), await runPhase(stage, idlest(balancer))]
    const result = resultOf(options, scene, balancer.engine, phases)
    view.end(result)
    return result
  } catch (error) {
    // Waits that are cut short throw errors of their own.
    if (either.aborted) throw either.reason
    throw error
  } finally {
    await Promise.all([balancer.close(), load.close()])
  }
}

function balanceAmong(servers: readonly Server[], engine: DemoOptions['engine']): Balancer<Server> {
  const reports = new Map(servers.map(({ id, report }) => [id, report]))
  return createBalancer({
    name: 'demo',
    nodes: servers,
    algorithm: leastCpu(ALGORITHM),
    poll: {
      interval: REPORT_INTERVAL,
      startupJitter: 0,
      // A server has its report at a port of its own.
      transport: httpTransport({ node: (id) => ({ url: reports.get(id) as string }) }),
    },
    engine,
  })
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    if (signal.aborted) reject(signal.reason)
    promise.then(resolve, reject)
  })
}

function resultOf(
  { seed, load, duration }: DemoOptions,
  { servers, share, capacity, rate, plan }: Scene,
  engine: DemoResult['engine'],
  phases: readonly PhaseResult[],
): DemoResult {
  return {
    version: packageVersion(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableCores(),
      runtime: `Node.js ${process.version}`,
    },
    engine,
    algorithm: { name: 'leastCpu', ...ALGORITHM },
    seed,
    scene: {
      servers: servers.length,
      share,
      secondJob: SECOND_JOB,
      meanWork: MEAN_WORK,
      capacity,
      rate,
      load,
      offeredLoad: (totalWork(plan) / (duration * 1000 * share * servers.length)) * 100,
      duration,
      reportInterval: REPORT_INTERVAL,
    },
    phases,
  }
}
