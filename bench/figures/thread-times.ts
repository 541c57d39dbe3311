import { readdirSync, readFileSync } from 'node:fs'

const NS_A_MS = 1e6
const TASKS = '/proc/self/task'

/** CPU time of each thread so far, ms; empty where the system does not tell. */
export function threadTimes(): Map<string, number> {
  const times = new Map<string, number>()
  try {
    for (const thread of readdirSync(TASKS)) {
      const [ran] = readFileSync(`${TASKS}/${thread}/schedstat`, 'utf8').split(' ')
      times.set(thread, Number(ran) / NS_A_MS)
    }
  } catch {
    // Only Linux has this.
  }
  return times
}

/** Of the threads that have come since, the one that has done most: helpers of the engine do next to nothing. */
export function pollingThread(before: ReadonlyMap<string, number>): string | undefined {
  const others = [...threadTimes()].filter(([thread]) => !before.has(thread))
  return others.sort(([, a], [, b]) => b - a)[0]?.[0]
}
