import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { flag } from '../options.js'
import { type OwnSample, PARTS, type UtilizationParts } from './parts.js'
import type { WatchedWorkers } from './samplers/event-loop.js'
import { type Sampled, type Sampler, samplerOption } from './samplers/sampler.js'

/**
 * What is reported as `cpu`, by which balancers pick: `'max'`, the largest of CPU, event loop and throttled time; one of
 * the parts by its name; or a function of the parts that gives percent, or undefined for no value this time.
 */
export type Utilization = 'max' | keyof UtilizationParts | ((parts: UtilizationParts) => Sampled)

/** What an agent measures, and what it makes of it. */
export interface UtilizationOptions {
  /**
   * What tells the CPU, in percent. Default `cpuSampler()`. With a sampler and no `utilization`, what it says is reported
   * as `cpu` as it is, and nothing else is measured.
   */
  readonly sampler?: Sampler | undefined
  /**
   * What is reported as `cpu`. Default `'max'`: CPU is not the only thing that runs out, and a full event loop or a used-up
   * quota is as good a reason to send work elsewhere.
   */
  readonly utilization?: Utilization | undefined
  /**
   * Whether the event loop of this process is measured. Default true; false for an agent that is a process of its own
   * beside the service, whose own loop says nothing.
   */
  readonly eventLoop?: boolean | undefined
  /** Worker threads whose event loops count too, or a function that gives those there are now. Default none. */
  readonly workers?: WatchedWorkers | undefined
}

const UTILIZATION = `'max', one of ${PARTS.map((part) => `'${part}'`).join(', ')}, or a function that gives percent`

function isUtilization(value: unknown): boolean {
  return value === 'max' || typeof value === 'function' || PARTS.some((part) => part === value)
}

function areWorkers(value: unknown): boolean {
  return (
    typeof value === 'function' || (typeof value === 'object' && value !== null && Symbol.iterator in value)
  )
}

/** Schemas of {@link UtilizationOptions}, for the options of an agent. */
export const utilizationEntries = {
  sampler: v.optional(samplerOption()),
  utilization: v.optional(v.custom<Utilization>(isUtilization, UTILIZATION)),
  eventLoop: v.optional(flag(), true),
  workers: v.optional(
    v.custom<WatchedWorkers>(areWorkers, 'an array of worker threads, or a function that gives one'),
  ),
}

/**
 * Checks what the schemas can't: one option against another.
 * @throws OptionError
 */
export function checkUtilization({ utilization, eventLoop = true, workers }: UtilizationOptions): void {
  if (eventLoop) return
  if (utilization === 'eventLoop') {
    throw new OptionError('utilization', utilization, 'a part that is measured: eventLoop is false')
  }
  if (workers !== undefined) {
    throw new OptionError('workers', workers, 'no worker threads, since eventLoop is false')
  }
}

/**
 * The utilization by the parts: percent, or whatever a function of the user's gives; undefined where it has no value yet.
 * @throws what the function throws; where one part is asked for, why that can't be measured
 */
export function utilizationOf(
  utilization: Utilization,
  parts: UtilizationParts,
  { failures }: OwnSample,
): Sampled {
  if (typeof utilization === 'function') return utilization(parts)
  if (utilization === 'max') return Math.max(parts.cpu, parts.eventLoop ?? 0, parts.throttled ?? 0)
  if (utilization !== 'cpu' && failures.has(utilization)) throw failures.get(utilization)
  return parts[utilization]
}
