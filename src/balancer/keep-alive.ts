/** Longest time that a timer takes, ms. */
const LONG = 2 ** 31 - 1

/**
 * Waits for a promise and keeps the process alive meanwhile. Nothing of a balancer does so by itself, and a program
 * whose last words are `await balancer.ready()` would end there.
 */
export async function keptAlive<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, LONG)
  try {
    return await promise
  } finally {
    clearInterval(timer)
  }
}
