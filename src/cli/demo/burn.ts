import { hash } from 'node:crypto'

// Hashed in about 10 µs: what a turn may overshoot by.
const block = Buffer.alloc(4096, 'idlest')

/** CPU time that this process has used so far, all its threads, ms. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Hashes until the process has used `ms` more of CPU time, and returns how much it was. CPU time, not time: a process
 * that the system puts aside meanwhile has not worked.
 */
export function burn(ms: number): number {
  const start = cpuTime()
  let used: number
  do {
    hash('sha256', block)
    used = cpuTime() - start
  } while (used < ms)
  return used
}
