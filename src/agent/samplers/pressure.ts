import * as v from 'valibot'
import { checkOptions, oneOf, options } from '../../options.js'
import { smallestQuota } from './cgroup.js'
import { findGroups, type GroupPaths } from './cgroup-paths.js'
import { type Files, filesSchema, ifThere, readIfThere, systemFiles } from './files.js'
import type { SyncSampler } from './sampler.js'

/** What tasks wait for. */
export type PressureKind = 'cpu' | 'memory' | 'io'

/** Options of `pressureSampler`: what it reads, for tests. */
export interface PressureSamplerOptions {
  /** Reads /proc and /sys; the real ones by default. */
  readonly files?: Files | undefined
}

// Version 1 has no pressure of a group.
function groupsWithPressure(files: Files): GroupPaths | undefined {
  const paths = ifThere(() => findGroups(files))
  return paths?.version === 2 ? paths : undefined
}

const kinds = oneOf(['cpu', 'memory', 'io'])
const pressureSamplerOptions = options({
  files: v.optional(filesSchema),
})

/**
 * Pressure as Linux's PSI has it: in how much of the last 10 s at least one task had to wait for CPU, memory or io (`some`,
 * `avg10`), in percent. In a control group with a CPU quota it is that group's (`cpu.pressure` and so on), else the
 * machine's (`/proc/pressure/cpu`).
 *
 * Throws, when sampled, where the kernel has none: other systems, Linux before 4.20, or without PSI.
 * @throws OptionError
 */
export function pressureSampler(of: PressureKind, given: PressureSamplerOptions = {}): SyncSampler {
  checkOptions('pressureSampler', of, kinds)
  const { files = systemFiles } = checkOptions('pressureSampler', given, pressureSamplerOptions)

  function ofGroup(): string | undefined {
    const paths = groupsWithPressure(files)
    if (paths === undefined) return undefined
    const limit = smallestQuota(files, paths)
    return limit === undefined
      ? undefined
      : readIfThere(files, `${paths.cpu.mount}${limit.group}/${of}.pressure`)
  }

  return {
    sample() {
      const text = ofGroup() ?? files.read(`/proc/pressure/${of}`)
      const average = Number(/^some avg10=([\d.]+) /m.exec(text)?.[1] ?? Number.NaN)
      if (!Number.isFinite(average)) throw new Error(`no average over 10 s in the pressure of ${of}`)
      return Math.min(100, average)
    },
  }
}
