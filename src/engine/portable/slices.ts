/** Steps between two moments at which long work may be put off: some 0.1 ms. */
export const SLICE = 16_384

/** Does something with the numbers from 0 to `count - 1`, a slice at a time. */
export function* slices(count: number, work: (from: number, to: number) => void): Generator<void, void> {
  for (let from = 0; from < count; from += SLICE) {
    work(from, Math.min(from + SLICE, count))
    yield
  }
}

/** Does all of it now. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Does one slice a turn of the event loop. */
export async function overTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    await turn()
    const step = work.next()
    if (step.done) return step.value
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    // Browsers have timers alone.
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve)
  })
}
