import type { Clock } from '../clock.js'
import type { Report } from '../report.js'
import { type OwnPart, percentOf, reportOfParts, sampleParts, type UtilizationParts } from './parts.js'
import { type CpuSamplerOptions, cpuSampler } from './samplers/cpu.js'
import { eventLoopSampler, type LoopTimes } from './samplers/event-loop.js'
import type { Files } from './samplers/files.js'
import { memorySampler } from './samplers/memory.js'
import { pressureSampler } from './samplers/pressure.js'
import type { Sampled, Sampler, SyncSampler } from './samplers/sampler.js'
import { throttledSampler } from './samplers/throttled.js'
import { createSampling, type Sampling, type SamplingCounters } from './sampling.js'
import { checkUtilization, type UtilizationOptions, utilizationOf } from './utilization.js'

export interface MeasuresOptions extends UtilizationOptions {
  readonly clock: Clock
  /** How long a promise of the sampler may take, ms. */
  readonly timeout: number
  /** Whose measures they are, for messages and telemetry. */
  readonly source: string
  /** Reads /proc and /sys; the real ones by default. */
  readonly files?: Files | undefined
  /** The machine's cores; `os.cpus` by default. */
  readonly cpus?: CpuSamplerOptions['cpus'] | undefined
  /** This thread's event loop by default. */
  readonly eventLoopUtilization?: (() => LoopTimes) | undefined
  /** Where warnings go; the process's by default. */
  readonly warn?: ((message: string, code: string) => void) | undefined
}

/**
 * Measures how busy this process, container or machine is, part by part, and makes of it what to report as `cpu`. A sample
 * that fails is counted, warned of and told on `idlest:sampler:error`.
 */
export class Measures {
  readonly counters: SamplingCounters
  readonly #sampling: Sampling
  // Of the sample that is being taken; undefined where the user's sampler alone is asked.
  #parts: UtilizationParts | undefined

  /** @throws OptionError where options contradict each other */
  constructor(options: MeasuresOptions) {
    checkUtilization(options)
    const { clock, timeout, source, warn, sampler, utilization, files, cpus } = options
    const measured =
      sampler !== undefined && utilization === undefined
        ? sampler
        : this.#combined(sampler ?? cpuSampler({ clock, files, cpus }), options)
    this.#sampling = createSampling({ sampler: measured, timeout, clock, source, warn })
    this.counters = this.#sampling.counters
  }

  /**
   * Measures everything, and gives it as a report without an age: `cpu` is the utilization, and how the parts travel is
   * told at {@link reportOfParts}. Undefined where there is no value yet or the sample failed. Never rejects.
   */
  async take(): Promise<Report | undefined> {
    const outcome = await this.#sampling.sample()
    if (outcome.kind !== 'value') return undefined
    const cpu = outcome.percent
    return this.#parts === undefined ? { cpu } : { cpu, ...reportOfParts(this.#parts) }
  }

  #combined(sampler: Sampler, options: MeasuresOptions): Sampler {
    const { utilization = 'max' } = options
    const samplers = ownSamplers(options)
    return () => {
      const own = sampleParts(samplers)
      const asked = ask(sampler)
      const finish = (cpu: Sampled): Sampled => {
        if (own.failures.has('eventLoop')) throw own.failures.get('eventLoop')
        // What is no percentage is for the sampling to judge.
        if (cpu === undefined || !Number.isFinite(cpu) || cpu < 0) return cpu
        // A share of time needs two looks; nothing can be made of a part of the parts.
        if (samplers.has('eventLoop') && own.parts.eventLoop === undefined) return undefined
        this.#parts = { ...own.parts, cpu: percentOf(cpu) }
        return utilizationOf(utilization, this.#parts, own)
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
