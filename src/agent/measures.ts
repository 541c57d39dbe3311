import type { Clock } from '../clock.js'
import type { Report } from '../report.js'
import { type OwnPart, type Parts, percentOf, reportOfParts, sampleParts } from './parts.js'
import { type CpuSamplerOptions, cpuSampler } from './samplers/cpu.js'
import { eventLoopSampler, type LoopTimes } from './samplers/event-loop.js'
import type { Files } from './samplers/files.js'
import { memorySampler } from './samplers/memory.js'
import { pressureSampler } from './samplers/pressure.js'
import type { Sampled, Sampler, SyncSampler } from './samplers/sampler.js'
import { throttledSampler } from './samplers/throttled.js'
import { createSampling, type SampleOutcome, type Sampling, type SamplingCounters } from './sampling.js'
import { checkUtilization, type UtilizationOptions, utilizationOf } from './utilization.js'

export interface MeasuresOptions extends UtilizationOptions {
  readonly clock: Clock
  /** How long a promise of the sampler may take, ms. */
  readonly timeout: number
  /** Whose measures they are, for messages and telemetry. */
  readonly source: string
  /** Reads /proc and /sys; the real ones by default. */
  readonly files?: Files
  /** The machine's cores; `os.cpus` by default. */
  readonly cpus?: CpuSamplerOptions['cpus']
  /** This thread's event loop by default. */
  readonly eventLoopUtilization?: () => LoopTimes
  /** Where warnings go; the process's by default. */
  readonly warn?: (message: string, code: string) => void
}

/** What a sample found, beside the utilization. */
interface Found {
  /** When it was asked for. */
  readonly at: number
  /** Undefined where the user's sampler alone was asked. */
  readonly parts?: Parts
}

/**
 * Measures how busy this process, container or machine is, part by part, and makes of it what to report as `cpu`. A sample
 * that fails is counted, warned of and told on `idlest:sampler:error`, and what was measured before stays, to age.
 */
export class Measures implements Sampling {
  readonly counters: SamplingCounters
  readonly #clock: Clock
  readonly #sampling: Sampling
  #found: Found = { at: 0 }
  #last: (Found & { readonly percent: number }) | undefined

  /** @throws OptionError where options contradict each other */
  constructor(options: MeasuresOptions) {
    checkUtilization(options)
    const { clock, timeout, source, warn, sampler, utilization, files, cpus } = options
    this.#clock = clock
    const measured =
      sampler !== undefined && utilization === undefined
        ? this.#alone(sampler)
        : this.#combined(sampler ?? cpuSampler({ clock, files, cpus }), options)
    this.#sampling = createSampling({ sampler: measured, timeout, clock, source, warn })
    this.counters = this.#sampling.counters
  }

  /** Measures everything. Never rejects; while a sample is being taken, gives the outcome of that one. */
  async sample(): Promise<SampleOutcome> {
    const outcome = await this.#sampling.sample()
    if (outcome.kind === 'value') this.#last = { ...this.#found, percent: outcome.percent }
    return outcome
  }

  /**
   * What was measured last, with its age; undefined before the first sample that could be used. `cpu` is the utilization;
   * how the parts travel, see {@link reportOfParts}.
   */
  report(): Report | undefined {
    if (this.#last === undefined) return undefined
    const { at, percent, parts } = this.#last
    const age = Math.max(0, this.#clock.now() - at)
    return { cpu: percent, ...(parts === undefined ? {} : reportOfParts(parts)), age }
  }

  #alone(sampler: Sampler): Sampler {
    return () => {
      this.#found = { at: this.#clock.now() }
      return ask(sampler)
    }
  }

  #combined(sampler: Sampler, options: MeasuresOptions): Sampler {
    const { utilization = 'max' } = options
    const samplers = ownSamplers(options)
    return () => {
      const at = this.#clock.now()
      const own = sampleParts(samplers)
      const asked = ask(sampler)
      const finish = (cpu: Sampled): Sampled => {
        if (own.failures.has('eventLoop')) throw own.failures.get('eventLoop')
        // What is no percentage is for the sampling to judge.
        if (cpu === undefined || !Number.isFinite(cpu) || cpu < 0) return cpu
        // A share of time needs two looks; nothing can be made of a part of the parts.
        if (samplers.has('eventLoop') && own.parts.eventLoop === undefined) return undefined
        const parts = { ...own.parts, cpu: percentOf(cpu) }
        this.#found = { at, parts }
        return utilizationOf(utilization, parts, own)
      }
      return isPromise(asked) ? asked.then(finish) : finish(asked)
    }
  }
}

function ask(sampler: Sampler): Sampled | Promise<Sampled> {
  return typeof sampler === 'function' ? sampler() : sampler.sample()
}

function isPromise(value: Sampled | Promise<Sampled>): value is Promise<Sampled> {
  return typeof value === 'object' && value !== null && typeof value.then === 'function'
}

function ownSamplers(options: MeasuresOptions): ReadonlyMap<OwnPart, SyncSampler> {
  const { files, clock, eventLoop = true, eventLoopUtilization, workers } = options
  const samplers = new Map<OwnPart, SyncSampler>([
    ['throttled', throttledSampler({ files, clock })],
    ['memory', memorySampler({ files })],
    ['cpuPressure', pressureSampler('cpu', { files })],
    ['memoryPressure', pressureSampler('memory', { files })],
    ['ioPressure', pressureSampler('io', { files })],
  ])
  if (eventLoop) samplers.set('eventLoop', eventLoopSampler({ eventLoopUtilization, workers }))
  return samplers
}
