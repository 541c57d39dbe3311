import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/**
 * Does something while no other process does it: two npm scripts started at once must not both install.
 * A lock whose process has ended is taken over.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} task
 * @param {{ onWait?: () => void, every?: number }} [options] `every`: ms between two looks
 * @returns {Promise<T>}
 */
export async function locked(path, task, { onWait, every = 200 } = {}) {
  let waited = false
  while (!take(path)) {
    if (abandoned(path)) {
      rmSync(path, { force: true })
      continue
    }
    if (!waited) onWait?.()
    waited = true
    await setTimeout(every)
  }
  try {
    return await task()
  } finally {
    rmSync(path, { force: true })
  }
}

/** @param {string} path */
function take(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  }
}

/** @param {string} path */
function abandoned(path) {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
    // Empty: its process is between creating and writing it, or died there.
    if (Number.isNaN(pid)) return Date.now() - statSync(path).mtimeMs > 10_000
    process.kill(pid, 0)
    return false
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH'
  }
}
