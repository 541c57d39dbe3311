import test from 'ava'
import { engines } from '../support/engines.js'
import { run } from './program.js'

interface Came {
  started: number
  picking: number
  terminated: number
  wrong: number
  picks: number
  most: number
  errors: string[]
  codes: Record<string, number[]>
  left: number
  open: number
}

/** Leases that a thread of comer.mjs has open at most. */
const LEASES = 21

for (const engine of engines) {
  test.serial(
    `${engine}: 50 threads come and end in all ways while the main thread picks: its picks are right, and ${
      engine === 'native'
        ? 'nothing of theirs stays in flight'
        : 'of those that end by themselves nothing stays in flight'
    }`,
    async (t) => {
      // On a busy machine.
      t.timeout(300_000)
      const { code, signal, out, err } = await run('comers.mjs', { args: [engine, '50'] })
      t.deepEqual([code, signal, err], [0, null, ''])
      const came = JSON.parse(out) as Came
      t.is(came.started, 50)
      t.true(came.picking > 20, `${came.picking} got so far`)
      t.deepEqual([came.errors, came.wrong, came.open], [[], 0, 0])
      t.true(came.picks > 1_000)
      t.true(came.most > 0)
      t.deepEqual(came.codes.exit, [7])
      t.deepEqual(came.codes.throw, [1])
      t.deepEqual(came.codes.return, [0])
      // A thread that is terminated tells nothing in JavaScript.
      if (engine === 'native') t.is(came.left, 0)
      else t.true(came.left <= LEASES * came.terminated, `${came.left} left`)
    },
  )
}
