import { consume, UNITS } from './case.js'

type Loop = (
  pick: () => unknown,
  units: number,
  clock: typeof performance,
  done: (last: unknown) => void,
) => number

// The last pick is kept, so that none can be left out, but what was picked is not looked into.
const BODY = `
let last
const start = clock.now()
for (let i = 0; i < units; i++) last = pick()
const end = clock.now()
done(last)
return (end - start) / units`

function done(last: unknown): void {
  consume(last === undefined ? 1 : 0)
}

/**
 * A sample of what `pick` costs, in a loop of its own: compiled anew, so that what the compiler has learnt of one `pick`
 * does not slow another one. `pick` is to be a function written out where it is used.
 *
 * @returns takes one sample, ms a call
 */
export function ownLoop(pick: () => unknown, units: number = UNITS): () => number {
  const loop = new Function('pick', 'units', 'clock', 'done', BODY) as Loop
  return () => loop(pick, units, performance, done)
}
