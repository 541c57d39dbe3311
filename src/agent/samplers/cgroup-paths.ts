import type { Files } from './files.js'

/** Where the process stands in one hierarchy of control groups. */
export interface GroupPath {
  /** Where the hierarchy is mounted, as far as this process sees it. */
  readonly mount: string
  /** The process's group below the mount: '' for the topmost that is visible, else starting with a slash. */
  readonly group: string
}

/** The hierarchies that account for CPU. In version 2 they are one and the same. */
export interface GroupPaths {
  readonly version: 1 | 2
  /** Has the quota. */
  readonly cpu: GroupPath
  /** Has the usage. */
  readonly usage: GroupPath
  /** Has the cores; undefined where no such hierarchy is mounted. */
  readonly cpuset: GroupPath | undefined
}

interface Mount {
  readonly root: string
  readonly point: string
  readonly controllers: readonly string[] | undefined
}

// mountinfo writes space, tab, newline and backslash in octal.
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
}

/** The mounts of control groups in /proc/self/mountinfo, whose format is in proc(5); `controllers` for version 1. */
function readMounts(text: string): Mount[] {
  const mounts: Mount[] = []
  for (const line of text.split('\n')) {
    const [before, after] = line.split(' - ')
    const [type, , options] = after?.split(' ') ?? []
    const [, , , root, point] = before?.split(' ') ?? []
    if (root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) continue
    mounts.push({
      root: unescaped(root),
      point: unescaped(point),
      controllers: type === 'cgroup' ? (options ?? '').split(',') : undefined,
    })
  }
  return mounts
}

/** The lines `id:controllers:path` of /proc/self/cgroup; version 2's line has no controllers. */
function readGroups(text: string): Map<string, string> {
  const groups = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, controllers, ...path] = line.split(':')
    if (controllers === undefined || path.length === 0) continue
    for (const controller of controllers.split(',')) groups.set(controller, path.join(':'))
  }
  return groups
}

// Without a cgroup namespace a container sees its path from the host's root, but its own group as the mount.
function below({ root }: Mount, path: string): string {
  const rest =
    root === '/' ? path : path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : ''
  // A path with .. stands outside of what the process's namespace shows.
  return rest === '/' || rest.split('/').includes('..') ? '' : rest
}

/** Finds the process's group of a controller of version 1, or of version 2 for undefined. */
type FindGroup = (controller: string | undefined) => GroupPath | undefined

// Samplers find their group at each sample, but the mounts are long to read and stay while the process's groups do.
const lastMounts = new WeakMap<Files, { readonly groups: string; readonly mounts: readonly Mount[] }>()

function mountsFor(files: Files, groups: string): readonly Mount[] {
  const last = lastMounts.get(files)
  if (last?.groups === groups) return last.mounts
  const mounts = readMounts(files.read('/proc/self/mountinfo'))
  if (mounts.length > 0) lastMounts.set(files, { groups, mounts })
  return mounts
}

function groupFinder(files: Files): FindGroup {
  const text = files.read('/proc/self/cgroup')
  const groups = readGroups(text)
  const mounts = mountsFor(files, text)
  return (controller) => {
    const path = groups.get(controller ?? '')
    const mount = mounts.find(({ controllers }) =>
      controller === undefined ? controllers === undefined : controllers?.includes(controller),
    )
    return path === undefined || mount === undefined
      ? undefined
      : { mount: mount.point === '/' ? '' : mount.point, group: below(mount, path) }
  }
}

/**
 * Finds the groups of this process. Where version 1 has the cpu controller it is asked, also where version 2 is mounted
 * beside it (a hybrid layout): a controller can be in one of the two alone.
 * @throws where the files can't be read or name no such group
 */
export function findGroups(files: Files): GroupPaths {
  const find = groupFinder(files)
  const cpu = find('cpu')
  const usage = find('cpuacct')
  if (cpu !== undefined && usage !== undefined) return { version: 1, cpu, usage, cpuset: find('cpuset') }
  const unified = find(undefined)
  if (unified === undefined) throw new Error('no control group accounts for CPU here')
  return { version: 2, cpu: unified, usage: unified, cpuset: unified }
}

/** The hierarchy that accounts for memory. */
export interface MemoryGroup {
  readonly version: 1 | 2
  readonly memory: GroupPath
}

/**
 * Finds the group that this process's memory is counted in, in version 1 before version 2 as above.
 * @throws where the files can't be read or name no such group
 */
export function findMemoryGroup(files: Files): MemoryGroup {
  const find = groupFinder(files)
  const first = find('memory')
  if (first !== undefined) return { version: 1, memory: first }
  const unified = find(undefined)
  if (unified === undefined) throw new Error('no control group accounts for memory here')
  return { version: 2, memory: unified }
}

/** The directories from a group up to the topmost that is visible. */
export function* upwards({ mount, group }: GroupPath): Generator<{ group: string; directory: string }> {
  for (let path = group; ; path = path.slice(0, path.lastIndexOf('/'))) {
    yield { group: path, directory: mount + path }
    if (path === '') return
  }
}
