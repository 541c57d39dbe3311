import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { digits } from './numbers.js'
import type { Spread } from './statistics.js'

/** How the machine was while the cases ran. */
export interface Steadiness {
  /** The floor, sampled before and after each case of each round, ns a call; absent without the addon. */
  readonly floor?: Spread
  /** Processes that ran or wanted to, over the last minute, before and after. */
  readonly loadBefore: number
  readonly loadAfter: number
  /** Which part of all cores others used, 0-1. */
  readonly others: number
  /** Which part of the time a virtual machine's host took away, 0-1; absent where the system does not tell. */
  readonly stolen?: number
}

/** More of the machine than this, and others were in the way. */
const MOST_OTHERS = 0.1
const MOST_STOLEN = 0.05
/** The floor's p90 to its p10: up to the one a steady machine, beyond the other none that can be believed. */
const STEADY = 1.15
const UNSTEADY = 2

/**
 * What keeps the figures from being believed; empty: nothing. Not the load before: it is a mean over the minutes that have
 * gone, and what others used meanwhile is measured.
 */
export function doubts({ floor, others, stolen = 0 }: Steadiness): string[] {
  const percent = (part: number) => `${digits(part * 100)} %`
  return [
    ...(others > MOST_OTHERS ? [`others used ${percent(others)} of the machine meanwhile`] : []),
    ...(stolen > MOST_STOLEN ? [`the machine's host took ${percent(stolen)} of the time away`] : []),
    ...(floor !== undefined && floor.p90 / floor.p10 > UNSTEADY
      ? [`the floor went up and down by ${digits(floor.p90 / floor.p10)} times`]
      : []),
  ]
}

/** In one sentence, how far times and ratios can be relied on. */
export function verdict({ floor }: Steadiness): string {
  if (floor === undefined)
    return 'Without the addon there is no floor, and nothing tells how steady the machine was.'
  const times = floor.p90 / floor.p10
  const found = `The floor took ${digits(floor.median)} ns, eight of ten times ${digits(floor.p10)} to ${digits(floor.p90)}: `
  if (times <= STEADY) return `${found}a steady machine, so that times can be compared as well as ratios.`
  if (times <= UNSTEADY) return `${found}its clock went up and down, so look at ratios rather than at times.`
  return `${found}an unsteady machine; ratios of single cases may be off, times say nothing.`
}

interface Times {
  readonly all: number
  readonly busy: number
  readonly stolen?: number
  readonly own: number
}

const MS_A_US = 1e-3

/** Watches who uses the machine, until it is asked. */
export function watchOthers(): () => Pick<Steadiness, 'others' | 'stolen'> {
  const before = timesNow()
  return () => {
    const now = timesNow()
    const all = now.all - before.all
    if (all <= 0) return { others: 0 }
    const others = Math.max(0, now.busy - before.busy - (now.own - before.own)) / all
    const { stolen } = now
    return { others, ...(stolen !== undefined && { stolen: (stolen - (before.stolen ?? 0)) / all }) }
  }
}

// CPU time so far, ms.
function timesNow(): Times {
  let all = 0
  let busy = 0
  for (const { times } of cpus()) {
    const used = times.user + times.nice + times.sys + times.irq
    busy += used
    all += used + times.idle
  }
  const { user, system } = process.cpuUsage()
  const stolen = stolenNow()
  return { all, busy, own: (user + system) * MS_A_US, ...(stolen !== undefined && { stolen }) }
}

// A tick is 10 ms wherever Linux runs on a CPU that Node.js runs on.
const MS_A_TICK = 10
const STEAL = 8

function stolenNow(): number | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
    const ticks = Number(line.split(/\s+/)[STEAL])
    return Number.isFinite(ticks) ? ticks * MS_A_TICK : undefined
  } catch {
    return undefined
  }
}
