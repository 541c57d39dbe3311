import { availableParallelism } from 'node:os'
import { smallestQuota } from '../../agent/samplers/cgroup.js'
import { findGroups } from '../../agent/samplers/cgroup-paths.js'
import { systemFiles } from '../../agent/samplers/files.js'

/** How many cores this process may use: those it may run on, or the quota of its container where that is less. */
export function availableCores(): number {
  const cores = availableParallelism()
  try {
    return Math.min(cores, smallestQuota(systemFiles, findGroups(systemFiles))?.cores ?? cores)
  } catch {
    // No control groups: not Linux, or not to be read.
    return cores
  }
}
