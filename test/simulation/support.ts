import type { Report } from '../../dist/index.js'
import type { Dispatcher, DispatcherSetting, Policy } from '../../dist/simulation/policy.js'
import type { Scene, ServerSpec } from '../../dist/simulation/scene.js'

/** Servers that are all alike. */
export function alike(count: number, spec: ServerSpec = {}): ServerSpec[] {
  return Array.from({ length: count }, () => spec)
}

/** Poisson arrivals and exponential service of mean 10 ms, at a load that is a share of the servers' cores. */
export function queues(servers: readonly ServerSpec[], load: number, requests: number): Scene {
  const cores = servers.reduce((sum, { cores = 1 }) => sum + cores, 0)
  const rate = load * cores * 100
  return {
    servers,
    requests,
    arrivals: { kind: 'poisson', rate },
    service: { kind: 'exponential', mean: 10 },
    reportInterval: 0,
    // A fifth of the expected time: queues start empty.
    warmup: (requests / rate) * 200,
  }
}

/** Something that a simulation told its policy. */
export type Told =
  | { what: 'begin'; at: number; request: number; server: number }
  | { what: 'end'; at: number; request: number; ok: boolean; latency: number }
  | { what: 'report'; at: number; server: number; report: Report }
  | { what: 'join' | 'leave'; at: number; server: number }
  | { what: 'close'; at: number }

/** A policy that picks by `pick` and keeps all that it is told; of several balancers, each in a list of its own. */
export function recorder(pick: (turn: number) => number = () => 0): Policy & { told: Told[][] } {
  const told: Told[][] = []
  return {
    name: 'recorder',
    told,
    create({ clock }: DispatcherSetting): Dispatcher {
      const mine: Told[] = []
      told.push(mine)
      let turn = 0
      return {
        engine: undefined,
        begin(request) {
          const server = pick(turn++)
          mine.push({ what: 'begin', at: clock.now(), request, server })
          return server
        },
        end: (request, ok, latency) => mine.push({ what: 'end', at: clock.now(), request, ok, latency }),
        report: (server, report) => mine.push({ what: 'report', at: clock.now(), server, report }),
        join: (server) => mine.push({ what: 'join', at: clock.now(), server }),
        leave: (server) => mine.push({ what: 'leave', at: clock.now(), server }),
        close: () => mine.push({ what: 'close', at: clock.now() }),
      }
    },
  }
}

/** Those of one kind. */
export function only<W extends Told['what']>(told: readonly Told[] | undefined, what: W) {
  return (told ?? []).filter((one): one is Extract<Told, { what: W }> => one.what === what)
}

/** Whether a value is within a share of what it should be. */
export function near(value: number, expected: number, tolerance: number): boolean {
  return Math.abs(value - expected) <= tolerance * expected
}
