import { LONGEST_WAIT } from '../clock.js'

/**
 * Waits for a promise and keeps the process alive meanwhile. Nothing of a balancer does so by itself, and a program
 * whose last words are `await balancer.ready()` would end there.
 */
export async function keptAlive<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, LONGEST_WAIT)
  try {
    return await promise
  } finally {
    clearInterval(timer)
  }
}
