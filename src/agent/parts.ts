import type { Report } from '../report.js'
import type { SyncSampler } from './samplers/sampler.js'

/** What was measured at one time, each in percent, 0-100. What can't be measured here is left out. */
export interface UtilizationParts {
  /** What the `sampler` says. */
  readonly cpu: number
  /** Utilization of the event loop, the largest over this thread and the `workers`. */
  readonly eventLoop?: number
  /** In how much of the time the control group was held up by its CPU quota. */
  readonly throttled?: number
  /** Memory in use. */
  readonly memory?: number
  /** In how much of the last 10 s some task waited for CPU. */
  readonly cpuPressure?: number
  /** The same for memory. */
  readonly memoryPressure?: number
  /** The same for io. */
  readonly ioPressure?: number
}

/** All parts by name. */
export const PARTS = [
  'cpu',
  'eventLoop',
  'throttled',
  'memory',
  'cpuPressure',
  'memoryPressure',
  'ioPressure',
] as const satisfies readonly (keyof UtilizationParts)[]

/** Those that idlest measures itself. */
export type OwnPart = Exclude<keyof UtilizationParts, 'cpu'>

export type OwnParts = Pick<UtilizationParts, OwnPart>

/** One sample of the parts that could be measured, and why the others could not. */
export interface OwnSample {
  readonly parts: OwnParts
  readonly failures: ReadonlyMap<OwnPart, unknown>
}

/**
 * The table counts CPU by the thousandth of a percentage point: no digits are sent that nobody keeps.
 * @param percent above 100 counts as 100
 */
export function percentOf(percent: number): number {
  return Math.min(100, Math.round(percent * 1000) / 1000)
}

/**
 * Asks each sampler once. One that throws does not disturb the others: much can't be measured on most systems, such as
 * pressure on old kernels, and it may be possible at the next sample, as after a change of a limit.
 */
export function sampleParts(samplers: ReadonlyMap<OwnPart, SyncSampler>): OwnSample {
  const parts: Partial<Record<OwnPart, number>> = {}
  const failures = new Map<OwnPart, unknown>()
  for (const [part, sampler] of samplers) {
    try {
      const percent = sampler.sample()
      if (percent !== undefined) parts[part] = percentOf(percent)
    } catch (error) {
      failures.set(part, error)
    }
  }
  return { parts, failures }
}

// Those that a report has no field for. Its `cpu` is what was made of all of them.
const METRICS = [
  ['cpu', 'cpu_alone'],
  ['throttled', 'throttled'],
  ['cpuPressure', 'cpu_pressure'],
  ['memoryPressure', 'memory_pressure'],
  ['ioPressure', 'io_pressure'],
] as const satisfies readonly (readonly [keyof UtilizationParts, string])[]

/**
 * The parts as a report has them: `application` is the event loop's utilization, `memory` itself, and the others are
 * named metrics. Those are 0-1, like ORCA's own utilizations on the wire, so that they can be among the
 * `metricNames` of `weightedRoundRobin`.
 */
export function reportOfParts(parts: UtilizationParts): Report {
  const report: Report = {}
  if (parts.eventLoop !== undefined) report.application = parts.eventLoop
  if (parts.memory !== undefined) report.memory = parts.memory
  const named: Record<string, number> = {}
  for (const [part, metric] of METRICS) {
    const percent = parts[part]
    if (percent !== undefined) named[metric] = Math.round(percent * 1000) / 100_000
  }
  report.named = named
  return report
}
