import { setTimeout as delay } from 'node:timers/promises'
import type { Balancer } from '../../index.js'
import type { Frame, View } from './frame.js'
import type { Usage } from './governor.js'
import type { LoadGenerator } from './load.js'
import { type Policy, roundRobin } from './policies.js'
import { PhaseRecord } from './record.js'
import type { NodeResult, PhaseResult } from './result.js'
import type { Scene } from './scene.js'
import type { Server } from './servers.js'

/** Time without requests before a phase, ms: what went before has left the servers' reports. */
const SETTLE = 750

/** Time between two frames, ms; not the reports' interval, so that their age is seen to change. */
const FRAME = 230

/** What a phase runs with. */
export interface Stage {
  readonly scene: Scene
  /** How long requests are sent, s. */
  readonly duration: number
  readonly servers: readonly Server[]
  readonly balancer: Balancer<Server>
  readonly load: LoadGenerator
  readonly view: View
  /** Ends it all. */
  readonly signal: AbortSignal
}

/** Sends the plan's requests by `policy`, after a warm-up, and waits for all answers. */
export async function runPhase(stage: Stage, policy: Policy): Promise<PhaseResult> {
  const { scene, duration, servers, load, view, signal } = stage
  view.note(`warming up for ${policy.name}`)
  await load.run(scene.warmUp, roundRobin(servers), new PhaseRecord(servers.length), signal)
  await delay(SETTLE, undefined, { signal })

  const record = new PhaseRecord(servers.length)
  const before = await usages(servers)
  const began = performance.now()
  const frames = setInterval(() => view.frame(frameOf(stage, policy, record, began), false), FRAME)
  try {
    const [after] = await Promise.all([
      delay(duration * 1000, undefined, { signal }).then(() => usages(servers)),
      load.run(scene.plan, policy, record, signal),
    ])
    const seconds = (performance.now() - began) / 1000
    view.frame(frameOf(stage, policy, record, began), true)
    return resultOf(policy, record, servers, before, after, seconds)
  } finally {
    clearInterval(frames)
  }
}

function usages(servers: readonly Server[]): Promise<Usage[]> {
  return Promise.all(servers.map((server) => server.usage()))
}

function frameOf({ duration, servers, balancer }: Stage, policy: Policy, record: PhaseRecord, began: number) {
  const readings = balancer.snapshot()
  return {
    policy: policy.name,
    elapsed: (performance.now() - began) / 1000,
    duration,
    sent: record.sent,
    waiting: record.sent - record.ended,
    errors: record.errors,
    p50: record.latencies.percentile(50),
    p99: record.latencies.percentile(99),
    nodes: record.nodes.map(({ picks, latencies }, i) => ({
      name: servers[i]?.name ?? '',
      secondJob: (servers[i]?.settings.secondJob ?? 0) > 0,
      cpu: readings[i]?.cpu,
      age: readings[i]?.age,
      share: record.sent === 0 ? undefined : (picks / record.sent) * 100,
      p50: latencies.percentile(50),
      p99: latencies.percentile(99),
    })),
  } satisfies Frame
}

function resultOf(
  policy: Policy,
  record: PhaseRecord,
  servers: readonly Server[],
  before: readonly Usage[],
  after: readonly Usage[],
  seconds: number,
): PhaseResult {
  return {
    policy: policy.name,
    requests: record.sent,
    errors: record.errors,
    ...(record.errors > 0 && { error: String(record.error) }),
    digest: record.digest,
    seconds,
    latency: record.latencies.summary(),
    nodes: servers.map((server, i): NodeResult => {
      const { picks, latencies } = record.nodes[i] as (typeof record.nodes)[number]
      const [from, to] = [before[i] as Usage, after[i] as Usage]
      const due = (to.time - from.time) * server.settings.share
      return {
        name: server.name,
        node: server.id,
        secondJob: server.settings.secondJob > 0,
        picks,
        share: record.sent === 0 ? 0 : (picks / record.sent) * 100,
        cpu: ((to.cpu - from.cpu) / due) * 100,
        lost: ((to.lost - from.lost) / due) * 100,
        latency: latencies.summary(),
      }
    }),
  }
}
