import { type GroupPaths, upwards } from './cgroup-paths.js'
import { type Files, readIfThere } from './files.js'

/** No machine has more cores. A longer list is not a list of cores. */
const MOST_CORES = 65_536

/** The cores in a list such as `0-3,8`; undefined if the list is empty or malformed. */
function parseCores(list: string): ReadonlySet<number> | undefined {
  const cores = new Set<number>()
  for (const range of list.trim().split(',')) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range.trim()) ?? []
    if (first === undefined || Number(last) < Number(first) || Number(last) >= MOST_CORES) return undefined
    for (let core = Number(first); core <= Number(last); core++) cores.add(core)
  }
  return cores
}

// Version 2 has the first; version 1 has the others. The last one holds the configured cores and is used only if no file
// holds the effective ones.
const CORE_LISTS = ['cpuset.cpus.effective', 'cpuset.effective_cpus', 'cpuset.cpus']

/** The cores of the process's cpuset. A group without the controller has the cores of the group above it. */
function cpusetCores(files: Files, { cpuset }: GroupPaths): ReadonlySet<number> | undefined {
  if (cpuset === undefined) return undefined
  for (const { directory } of upwards(cpuset)) {
    for (const name of CORE_LISTS) {
      const cores = parseCores(readIfThere(files, `${directory}/${name}`) ?? '')
      if (cores !== undefined) return cores
    }
  }
  return undefined
}

/** The CPU affinity of the process. The kernel keeps it within the cpuset. */
function affinity(files: Files): ReadonlySet<number> | undefined {
  const status = readIfThere(files, '/proc/self/status') ?? ''
  return parseCores(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '')
}

/**
 * The cores on which this process may run: by its affinity, which a cpuset limits too, or else by the files of its
 * cpuset. Only cores that are online count, if the system lists them: an affinity also names cores that could be added.
 * @returns undefined if nothing names the cores
 */
export function allowedCores(files: Files, paths: GroupPaths | undefined): ReadonlySet<number> | undefined {
  const allowed = affinity(files) ?? (paths && cpusetCores(files, paths))
  const online = parseCores(readIfThere(files, '/sys/devices/system/cpu/online') ?? '')
  if (allowed === undefined || online === undefined) return allowed ?? online
  const both = new Set([...allowed].filter((core) => online.has(core)))
  return both.size > 0 ? both : allowed
}
