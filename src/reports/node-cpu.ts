import { BadReportError } from '../errors.js'
import { type PageCost, readPrometheus } from './prometheus.js'
import { amount } from './values.js'

/** Whose CPU is read off a Prometheus page. */
export type CpuSource =
  /** The machine's: `node_cpu_seconds_total` of node_exporter. */
  | { readonly kind: 'node' }
  /** One process's: `process_cpu_seconds_total`, against so many cores, more than 0. */
  | { readonly kind: 'process'; readonly cores: number }
  /**
   * A container's: `container_cpu_usage_seconds_total` of cAdvisor, of the series that have these labels; `{ id: '/' }`
   * by default, which is the machine. Against so many cores, more than 0; by default against the container's quota, and
   * without one against `machine_cpu_cores`.
   */
  | {
      readonly kind: 'container'
      readonly labels?: Readonly<Record<string, string>>
      readonly cores?: number
    }

/** What a page says of CPU time since some start: nothing by itself, a percentage with a later one. */
export interface CpuCounters {
  /** CPU time used, s. */
  readonly busy: number
  /** CPU time there was, s. */
  readonly total: number
  /** How many cores `total` is of. */
  readonly cores: number
  /** When it was sampled, by the exporter's clock, ms since 1970; undefined where the page does not say. */
  readonly at: number | undefined
}

const NODE = 'node_cpu_seconds_total'
const PROCESS = 'process_cpu_seconds_total'
const CONTAINER = 'container_cpu_usage_seconds_total'
const QUOTA = 'container_spec_cpu_quota'
const PERIOD = 'container_spec_cpu_period'
const MACHINE = 'machine_cpu_cores'

const NODE_NAMES = new Set([NODE])
const PROCESS_NAMES = new Set([PROCESS])
const CONTAINER_NAMES = new Set([CONTAINER, QUOTA, PERIOD, MACHINE])

const IDLE_MODES = new Set(['idle', 'iowait'])
// Old versions of node_exporter have them here; the kernel counts this time as user and nice already.
const GUEST_MODES = new Set(['guest', 'guest_nice'])

function later(at: number | undefined, other: number | undefined): number | undefined {
  return at === undefined || (other !== undefined && other > at) ? other : at
}

function readNode(text: string, cost: PageCost | undefined): CpuCounters {
  const cores = new Set<string | undefined>()
  let busy = 0
  let idle = 0
  let idleKnown = false
  let at: number | undefined
  for (const { name, labels, value, timestamp } of readPrometheus(text, NODE_NAMES, cost)) {
    const { cpu, mode = '' } = labels
    if (GUEST_MODES.has(mode)) continue
    const seconds = amount(name, value)
    cores.add(cpu)
    at = later(at, timestamp)
    if (IDLE_MODES.has(mode)) {
      idle += seconds
      idleKnown ||= mode === 'idle'
    } else {
      busy += seconds
    }
  }
  if (!idleKnown) throw new BadReportError(NODE, undefined, 'a page with it, {mode="idle"} among its series')
  return { busy, total: busy + idle, cores: cores.size, at }
}

function readProcess(text: string, cores: number, now: number, cost: PageCost | undefined): CpuCounters {
  let busy: number | undefined
  let at: number | undefined
  for (const { name, value, timestamp } of readPrometheus(text, PROCESS_NAMES, cost)) {
    busy = (busy ?? 0) + amount(name, value)
    at = later(at, timestamp)
  }
  if (busy === undefined) throw new BadReportError(PROCESS, undefined, 'a page with it')
  return { busy, total: cores * ((at ?? now) / 1000), cores, at }
}

interface Container {
  busy: number
  at: number | undefined
  /** The containers that the labels fit. */
  readonly ids: Set<string | undefined>
  quota: number | undefined
  period: number | undefined
  machine: number | undefined
}

function findContainer(
  text: string,
  wanted: readonly (readonly [string, string])[],
  cost: PageCost | undefined,
): Container {
  const found: Container = {
    busy: 0,
    at: undefined,
    ids: new Set(),
    quota: undefined,
    period: undefined,
    machine: undefined,
  }
  for (const { name, labels, value, timestamp } of readPrometheus(text, CONTAINER_NAMES, cost)) {
    if (name === MACHINE) {
      found.machine = value
      continue
    }
    if (wanted.some(([label, content]) => labels[label] !== content)) continue
    if (name === QUOTA) found.quota = value
    else if (name === PERIOD) found.period = value
    else {
      found.busy += amount(name, value)
      found.at = later(found.at, timestamp)
      found.ids.add(labels.id)
    }
  }
  return found
}

// No quota is left out, or written as -1 or 0.
function coresOf({ quota = 0, period = 0, machine = 0, ids }: Container): number {
  if (ids.size > 1) {
    throw new BadReportError(CONTAINER, ids.size, 'labels that fit one container, or the number of cores')
  }
  const cores = quota > 0 && period > 0 ? quota / period : machine
  if (!(cores > 0 && cores < Number.POSITIVE_INFINITY)) {
    throw new BadReportError(MACHINE, machine, `it, or ${QUOTA} and ${PERIOD}, or the number of cores`)
  }
  return cores
}

function readContainer(
  text: string,
  labels: Readonly<Record<string, string>>,
  given: number | undefined,
  now: number,
  cost: PageCost | undefined,
): CpuCounters {
  const wanted = Object.entries(labels)
  const found = findContainer(text, wanted, cost)
  if (found.ids.size === 0) {
    const fitting = wanted.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')
    throw new BadReportError(CONTAINER, undefined, `a page with it, with {${fitting}}`)
  }
  const cores = given ?? coresOf(found)
  return { busy: found.busy, total: cores * ((found.at ?? now) / 1000), cores, at: found.at }
}

/**
 * Reads CPU counters off a page in Prometheus' text format. Of a node everything but `idle` and `iowait` is busy, over
 * all cores.
 * @param now when the page was read, ms, by any clock that is the same for all pages of one node: what counters of a
 * process or a container are against, where the page does not say when it sampled them
 * @param cost is counted up, also where this throws
 * @throws BadReportError where the page lacks what is asked for, or a counter is not a finite number in range
 */
export function cpuCounters(text: string, source: CpuSource, now: number, cost?: PageCost): CpuCounters {
  switch (source.kind) {
    case 'node':
      return readNode(text, cost)
    case 'process':
      return readProcess(text, source.cores, now, cost)
    case 'container':
      return readContainer(text, source.labels ?? { id: '/' }, source.cores, now, cost)
  }
}

/**
 * Percent of the CPU time between two pages that was used, 0-100. Undefined where that can't be told: a counter went
 * back, as after a restart; the number of cores is another one; or there is no new sample, as where cAdvisor is asked more
 * often than it looks.
 */
export function percentBetween(before: CpuCounters, after: CpuCounters): number | undefined {
  const busy = after.busy - before.busy
  const total = after.total - before.total
  const sameClock = (before.at === undefined) === (after.at === undefined)
  if (before.cores !== after.cores || !sameClock || busy < 0 || !(total > 0)) return undefined
  return Math.min(100, (busy / total) * 100)
}
