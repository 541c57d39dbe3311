export { type CpuSamplerOptions, cpuSampler } from './cpu.js'
export {
  type EventLoopSamplerOptions,
  eventLoopSampler,
  type LoopTimes,
  type WatchedWorker,
  type WatchedWorkers,
} from './event-loop.js'
export type { Files } from './files.js'
export { type MemorySamplerOptions, memorySampler } from './memory.js'
export { type PressureKind, type PressureSamplerOptions, pressureSampler } from './pressure.js'
export { type ProcessSamplerOptions, processSampler } from './process.js'
export type { Sampled, Sampler, SyncSampler } from './sampler.js'
export { type ThrottledSamplerOptions, throttledSampler } from './throttled.js'
