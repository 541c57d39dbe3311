import { warn } from '../warn.js'

let warned = false

/**
 * Whether this process may start threads: under the permission model it has to be told so. Where it may not, that is warned
 * of, once.
 */
export function mayStartThreads(): boolean {
  // Undefined without the permission model, whatever its type says, and in runtimes that have none.
  const permission = process.permission as typeof process.permission | undefined
  if (permission?.has('worker') !== false) return true
  if (!warned) {
    warned = true
    warn(
      'the permission model allows no worker threads, so nodes are polled on this one: with --allow-worker they are polled on a thread of their own',
      'IDLEST_NO_THREADS',
    )
  }
  return false
}
